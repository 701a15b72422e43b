/**
 * One facilitator of the simulation: the real flow, relayer, burner, follower and finalization on simulated ports, wired as
 * `src/start` wires them. What costs much and decides nothing is replaced: signatures, proofs of work, proofs.
 */
import { createGasPrices, readHead } from '@svc-zerc20/evm'
import type { Address, FacilitatorApi } from '@svc-zerc20/protocol'
import { createChain as createChainReader } from '../../src/chain/chain.js'
import { createRereadBurn } from '../../src/chain/reread-burn.js'
import { createAccountTransfers } from '../../src/chain/transfers/account.js'
import { createFollow } from '../../src/chain/transfers/follow.js'
import { createTransferRound, startTransferLoop } from '../../src/chain/transfers/round.js'
import { createTokenChain } from '../../src/chain/transfers/token-chain.js'
import { limits } from '../../src/config/limits.js'
import { createFinalize } from '../../src/payment/finalize/finalize.js'
import { startFinalizeLoop } from '../../src/payment/finalize/loop.js'
import type { MintVerifier } from '../../src/payment/finalize/ports.js'
import { resumeMints } from '../../src/payment/finalize/send.js'
import { createIssueChallenge } from '../../src/payment/issue/challenge.js'
import { type Loop, startLoop } from '../../src/payment/loop.js'
import type { AddressSource, Deployment, Signers, Tickets } from '../../src/payment/ports.js'
import { createBurns } from '../../src/payment/settle/burns.js'
import { createExamine } from '../../src/payment/settle/examine.js'
import { startHandOver } from '../../src/payment/settle/hand-over.js'
import { createOrphans } from '../../src/payment/settle/orphans.js'
import { createPayerWaits } from '../../src/payment/settle/payer-waits.js'
import { createResume } from '../../src/payment/settle/resume.js'
import { createSettle } from '../../src/payment/settle/settle.js'
import {
  createNews,
  createSharedBurns,
  type News,
  type SettleBurns,
} from '../../src/payment/settle/shared-burns.js'
import { createMinter } from '../../src/proving/minter.js'
import { createBurner } from '../../src/sending/burner/burner.js'
import { createBurnTrial } from '../../src/sending/burner/trial.js'
import { createMintSender } from '../../src/sending/relayer/mint-sender.js'
import { createRelayer } from '../../src/sending/relayer/relayer.js'
import { keepLeasedSide, type LeasedSideKeeper } from '../../src/start/keep-leased-side.js'
import type { HeldLeases, LeasedSide } from '../../src/start/leased-side.js'
import { createIssuedStore } from '../../src/store/adapters/issued.js'
import { createStoreLedger } from '../../src/store/adapters/ledger.js'
import { createStoreBooks } from '../../src/store/adapters/operator-questions.js'
import { createMintSchedule } from '../../src/store/adapters/schedule.js'
import type { StepSettings } from '../../src/store/steps/step-context.js'
import { type Store, under } from '../../src/store/store.js'
import type { Log } from '../../src/telemetry/events.js'
import { type Chain, chainId, generation, helper, token, verifier } from './chain.js'
import type { Draws } from './draws.js'
import { mintData, type Network } from './node.js'
import type { Process } from './timeline.js'

const treasury = `0x${'a4'.repeat(20)}` as Address

const deployment: Deployment = { chainId, token, tokenName: 'T', treasury, helper }

/** What an operator configures, drawn for each seed. */
export type Terms = {
  readonly confirmations: number
  readonly finalizeConfirmations: number
  readonly reorgWatchBlocks: number
  readonly ttlSeconds: number
  readonly receiptPollMs: number
  readonly periodMs: number
  readonly delayMaxMs: number
}

export type DaemonDeps = {
  readonly process: Process
  readonly store: Store
  readonly chain: Chain
  readonly network: Network
  readonly draws: Draws
  readonly terms: Terms
  readonly settings: StepSettings
  readonly relayer: Address
  readonly report: Log
}

export type Daemon = Awaited<ReturnType<typeof startDaemon>>

const signers: Signers = async (_challenge, { payer }) => ({
  permitSigner: payer,
  burnAuthorizationSigner: payer,
})

const tickets: Tickets = {
  of: (nonce) => `ticket of ${nonce}`,
  matches: (nonce, given) => given === `ticket of ${nonce}`,
}

type Parts = DaemonDeps & {
  readonly clock: Process['clock']
  readonly rpc: ReturnType<Network['rpcOf']>
  readonly reader: ReturnType<typeof createChainReader>
  readonly ledger: ReturnType<typeof ledgerOn>
}

/** Work under a lease, with a relayer of its own. */
type LeasedParts = Omit<Parts, 'relayer'> & { readonly relayer: ReturnType<typeof createRelayer> }

/** Throws when the node or the store does not answer: then the process ends, as the command does. */
export async function startDaemon(deps: DaemonDeps) {
  const { process, store, network, report } = deps
  const { clock } = process
  const rpc = network.rpcOf(process)
  const reader = createChainReader({ rpc, token, helper, chainId, fromBlock: 0, ...limits })
  reader.sawHead(await readHead(rpc))
  const ledger = ledgerOn(deps)
  const parts = { ...deps, clock, rpc, reader, ledger }
  const news = createNews(store.hints, clock, {
    // Nearly all hints arrive, and looks without one are what a simulation costs.
    everyMs: 2_000,
    gatherMs: limits.sharedGatherMs,
  })
  const burns = createSharedBurns({
    ledger,
    news,
    clock,
    here: () => (keeper.isSending() ? keeper.current().burns : undefined),
  })
  const flow = wireFlow(parts, burns)
  const keeper: LeasedSideKeeper = await keepLeasedSide({
    leases: store.leases,
    account: deps.relayer,
    isCopy: false,
    isOld: () => false,
    acceptCopy: async () => undefined,
    clock,
    log: report,
    pollMs: 1_500,
    make: async (held) => wireBack(parts, flow, news, held),
  })
  keeper.start()
  return { ...flow, isWorking: keeper.isWorking, queue: () => keeper.current().senders.relayer.queue() }
}

function ledgerOn({ store, process, settings }: Pick<DaemonDeps, 'store' | 'process' | 'settings'>) {
  const { clock } = process
  const at = () => ({ now: Math.floor(clock.now() / 1000), settings })
  return {
    ...createStoreLedger({ store, clock, settings, askerOf: () => undefined }),
    books: createStoreBooks(store, at),
  }
}

/** What every daemon serves. */
function wireFlow(
  { store, relayer, clock, reader: chain, ledger, draws, terms, report }: Parts,
  burns: SettleBurns,
) {
  const payerWaits = createPayerWaits({
    clock,
    firstMs: limits.payerWaitFirstMs,
    maxMs: limits.payerWaitMaxMs,
    forgetMs: limits.payerWaitForgetMs,
    payersMax: limits.payersWaitingMax,
  })
  const examine = createExamine({
    deployment,
    ledger,
    chain,
    signers,
    tickets,
    payerWaits,
    clock,
    confirmations: terms.confirmations,
    presentedLateSecondsMax: limits.presentedLateSecondsMax,
  })
  const addresses: AddressSource = {
    take: async () => ({
      challengeNonce: draws.hex(32) as never,
      payTo: draws.hex(20) as Address,
      powNonce: 0,
      powBits: 0,
    }),
    giveBack: () => undefined,
  }
  const settle = createSettle({
    deployment,
    examine,
    ledger,
    burns,
    report,
    receiptPollMs: terms.receiptPollMs,
    sender: store.hints && relayer,
  })
  return {
    examine,
    payerWaits,
    issue: createIssueChallenge({
      deployment,
      addresses,
      ledger,
      tickets,
      chain,
      clock,
      report,
      ttlSeconds: terms.ttlSeconds,
      addressWaitMs: limits.addressWaitMs,
      terms: { minAmount: 0n, fee: undefined },
      relayMinAmount: 0n,
    }),
    async settle(presented: FacilitatorApi.PresentedPayment) {
      return settle(presented, await ledger.presented(presented.payload))
    },
  }
}

/** What one daemon at a time does, made again for each lease. */
function wireBack(
  front: Parts,
  { examine, payerWaits }: Pick<ReturnType<typeof wireFlow>, 'examine' | 'payerWaits'>,
  news: News,
  { send, work }: HeldLeases,
): LeasedSide {
  const { rpc, clock, report, reader, network, terms } = front
  const isShared = front.store.hints !== undefined
  const store = send ? under(front.store, [send]) : front.store
  const ledger = ledgerOn({ ...front, store })
  const relayer = createRelayer({
    rpc,
    chainId,
    clock,
    report,
    // Most looks find nothing new, and looks are what a simulation costs.
    limits: { ...limits, receiptPollFirstMs: 100, receiptPollMaxMs: 1_000 },
    gasPrices: createGasPrices({
      rpc,
      clock,
      freshMs: limits.gasPricesFreshMs,
      bumpPercent: limits.priceBumpPercent,
      feePerGasMax: 500n * 10n ** 9n,
      tipPerGasMax: 100n * 10n ** 9n,
    }),
    account: network.accountOf(front.relayer),
    isNamed: isShared,
    recordEmpty: (transaction) => ledger.recordSigned(transaction, []),
    confirmations: terms.confirmations,
    reorgWatchBlocks: terms.reorgWatchBlocks,
    onHead: reader.sawHead,
  })
  const workStore = send && work ? under(front.store, [send, work]) : store
  const workLedger = ledgerOn({ ...front, store: workStore })
  const working: LeasedParts = { ...front, store: workStore, ledger: workLedger, relayer }
  const closing = new AbortController()
  const draining = new AbortController()
  const burner = createBurner({
    chain: reader,
    relayer,
    token,
    helper,
    report,
    clock,
    closing: closing.signal,
    trial: createBurnTrial({ rpc, token, helper }),
    confirmations: terms.confirmations,
    recordSigned: ledger.recordSigned,
    onRpcFailure: (err) => report({ event: 'rpc.failed', err }),
  })
  const burns = createBurns({
    burner,
    ledger,
    payerWaits,
    clock,
    report,
    closing: draining.signal,
    retryMs: { first: limits.reorgedRetryFirstMs, max: limits.reorgedRetryMaxMs },
  })
  const finalization = wireFinalization(working)
  const following = wireFollowing(working)
  let loops: readonly { stop(): Promise<void> }[] = []
  const back: Pick<LeasedSide, 'burns' | 'resume' | 'startLoops' | 'drain' | 'close'> = {
    burns,
    async resume() {
      const left = await createResume({
        ledger,
        burns,
        examine,
        report,
        account: isShared ? front.relayer : undefined,
      })
      await resumeMints({ ledger: workLedger, minter: finalization.minter, report })
      left.resumeTransactions()
      await relayer.start()
      await left.restartClaims()
    },
    startLoops() {
      const retryMs = limits.handOverRetryMs
      const shared = { ledger, burns, examine, report, confirmations: terms.confirmations }
      const account = front.relayer
      const endOrphans = createOrphans({
        ...shared,
        chain: reader,
        send: async (raw) => void (await rpc.batch([{ method: 'eth_sendRawTransaction', params: [raw] }])),
      })
      const orphans = async () => {
        await endOrphans(account).catch((err) => report({ event: 'burn.hand_over_failed', err }))
        return retryMs
      }
      loops = [
        ...(work ? [finalization.start(), following()] : []),
        ...(isShared && send ? [startHandOver({ ...shared, account, news, clock, retryMs })] : []),
        ...(isShared && work ? [startLoop(clock, orphans)] : []),
      ]
    },
    async drain() {
      draining.abort()
      await Promise.all([burns.idle(), ...loops.map((loop) => loop.stop())])
    },
    close() {
      draining.abort()
      closing.abort()
      return relayer.close()
    },
  }
  return { ...back, senders: { relayer } } as unknown as LeasedSide
}

function wireFinalization(parts: LeasedParts) {
  const { clock, rpc, reader, ledger, relayer, store, draws, terms, report } = parts
  const minter = createMinter({
    rpc,
    sender: createMintSender({ relayer, minter: undefined }),
    recordSigned: ledger.recordMintSigned,
  })
  const delayMs = draws.between(0, terms.delayMaxMs)
  const nothing = () => Promise.reject(new Error('no payment is minted in a batch here'))
  const finalize = createFinalize({
    ledger,
    minter,
    clock,
    report,
    verifier: wireVerifier(parts),
    reread: createRereadBurn({ chain: reader, rpc }),
    prove: async ({ challenge: { nonce, payTo }, burn }) => {
      await clock.sleep(draws.between(50, 3_000))
      return { to: verifier, data: mintData(nonce, payTo, burn.value), gas: limits.mintGas, nonces: [nonce] }
    },
    batches: {
      counts: async () => [],
      findCounts: nothing,
      prove: nothing,
      foreignCounts: nothing,
      found: nothing,
      mark: nothing,
      countsBeside: false,
      dustBelow: 0n,
      followedLeaves: nothing,
      rangeOf: () => ({ count: 0, end: 0n }),
      pace: { least: 1, waitMaxMs: 0, jitterMs: 0, retryMs: { first: 1_000, max: 10_000 } },
      chance: draws.fraction,
    },
    schedule: createMintSchedule({
      // One delay for all: every look draws hundreds of them.
      store,
      clock,
      delayMs: () => delayMs,
      retryMs: { first: terms.periodMs, max: 10 * terms.periodMs },
    }),
    shuffle: (items) => items,
    burnConfirmations: terms.confirmations,
    limits: { ...limits, attemptsInFlightMax: 3, mintWaitMs: limits.mintWaitMinMs },
  })
  const { periodMs } = terms
  const backOffMaxMs = periodMs * limits.finalizeBackOffPeriodsMax
  return {
    minter,
    start: () => startFinalizeLoop({ finalize, clock, periodMs, backOffMaxMs, report }),
  }
}

/** Where the real one asks a contract, this one asks the chain: the node between may lag and fail all the same. */
function wireVerifier({ chain, network, process, terms }: LeasedParts): MintVerifier {
  return {
    latestRoot: () =>
      network.roundTrip(process, (view) => ({
        size: BigInt(chain.provedAt(view)),
        root: 1n,
        isPaused: false,
      })),
    mintStates: (payments) =>
      network.roundTrip(process, (view) => {
        const deep = view.path[Math.max(0, view.number - (terms.finalizeConfirmations - 1))] ?? view
        return payments.map(({ challenge, burn }) => {
          if (chain.mintedAt(deep, challenge.nonce) >= burn.value) return 'minted'
          return chain.mintedAt(view, challenge.nonce) >= burn.value ? 'shallow' : 'due'
        })
      }),
    findMint: ({ challenge }) =>
      network.roundTrip(process, (view) => {
        const mint = chain.mintsAt(view, challenge.nonce).at(-1)
        return (
          mint && {
            txHash: mint.txHash as never,
            blockNumber: BigInt(mint.block.number),
            value: mint.value as never,
          }
        )
      }),
  }
}

function wireFollowing({ clock, rpc, reader, ledger, store, terms, report }: LeasedParts): () => Loop {
  const issued = createIssuedStore(store)
  const depth = Math.max(terms.confirmations, terms.finalizeConfirmations)
  const follow = createFollow({
    store: issued,
    ledger,
    generation,
    deployedBlock: 0,
    depth,
    clock,
    report,
    chain: createTokenChain(rpc, token),
  })
  const account = createAccountTransfers({
    store: issued,
    ledger,
    depth,
    clock,
    report,
    dustBelow: 0n,
    mintsSecond: false,
    reread: createRereadBurn({ chain: reader, rpc }),
    addressesPerRoundMax: limits.foundAddressesPerRoundMax,
  })
  const round = createTransferRound({
    store: issued,
    follow,
    account,
    clock,
    ...limits,
    dustBelow: 0n,
    stuckCount: { refresh: async () => undefined },
    retentionSeconds: 30 * 86_400,
  })
  return () =>
    startTransferLoop({
      round,
      clock,
      periodMs: terms.periodMs,
      backOffMaxMs: terms.periodMs * limits.finalizeBackOffPeriodsMax,
      onFailure: (err) => report({ event: 'follow.failed', err }),
    })
}
