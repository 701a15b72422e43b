/**
 * One facilitator of the simulation: the daemon that `src/start` wires, on a simulated node and store. Costly parts that
 * decide nothing are replaced: signatures, proofs of work, proofs, and the sweeps of fees.
 */
import { createGasPrices, readHead } from '@svc-zerc20/evm'
import type { Address, FacilitatorApi } from '@svc-zerc20/protocol'
import { createChain as createChainReader } from '../../src/chain/chain.js'
import { createRereadBurn } from '../../src/chain/reread-burn.js'
import { type Config, parseConfig } from '../../src/config/config.js'
import { limits } from '../../src/config/limits.js'
import { profileOf } from '../../src/config/settings.js'
import { createFinalize } from '../../src/payment/finalize/finalize.js'
import { startFinalizeLoop } from '../../src/payment/finalize/loop.js'
import type { MintVerifier } from '../../src/payment/finalize/ports.js'
import { resumeMints } from '../../src/payment/finalize/send.js'
import type { Loop } from '../../src/payment/loop.js'
import type { AddressSource, Signers } from '../../src/payment/ports.js'
import { createMintSender } from '../../src/sending/relayer/mint-sender.js'
import { createMinter } from '../../src/sending/relayer/minter.js'
import { createRelayer } from '../../src/sending/relayer/relayer.js'
import type { ChainSide } from '../../src/start/chain-side.js'
import type { FeesSide } from '../../src/start/fees.js'
import type { Finalization } from '../../src/start/finalization.js'
import { keepLeasedSide, type LeasedSideKeeper } from '../../src/start/keep-leased-side.js'
import { createLeasedSide } from '../../src/start/leased-side.js'
import type { LeasedParts, Parts } from '../../src/start/parts.js'
import type { PaymentFlow } from '../../src/start/payment-flow.js'
import type { Storage } from '../../src/start/storage.js'
import { createIssuedStore } from '../../src/store/adapters/issued.js'
import { createStoreLedger } from '../../src/store/adapters/ledger.js'
import { createStoreBooks } from '../../src/store/adapters/operator-questions.js'
import { createMintSchedule } from '../../src/store/adapters/schedule.js'
import type { AccountName, KnownAccount } from '../../src/store/events.js'
import { readAccount } from '../../src/store/steps/operator-steps.js'
import type { StepSettings } from '../../src/store/steps/step-context.js'
import { type Store, under } from '../../src/store/store.js'
import type { Log } from '../../src/telemetry/events.js'
import { minimalConfig } from '../config.js'
import { type Chain, chainId, helper, token, verifier } from './chain.js'
import type { Draws } from './draws.js'
import { mintData, type Network } from './node.js'
import type { Process } from './timeline.js'

const treasury = `0x${'a4'.repeat(20)}` as Address

/** The configuration of an operator, drawn for each seed. */
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
  /** Others have the key of the relayer, too. The operator knows, and lets every daemon start all the same. */
  readonly isKeyShared: boolean
  readonly report: Log
}

export type Daemon = Awaited<ReturnType<typeof startDaemon>>

const signers: Signers = async (_challenge, { payer }) => ({
  permitSigner: payer,
  burnAuthorizationSigner: payer,
})

const leastConfig = parseConfig(minimalConfig())
const seed = new Uint8Array(32)

function configOf(terms: Terms): Config {
  const { network, settlement, finalize, daemon } = leastConfig
  return {
    ...leastConfig,
    network: { ...network, chain_id: chainId, token, verifier, deployed_block: 0 },
    settlement: {
      ...settlement,
      treasury,
      permit_burner: helper,
      confirmations: terms.confirmations,
      reorg_watch_blocks: terms.reorgWatchBlocks,
      challenge_ttl_seconds: terms.ttlSeconds,
      receipt_poll_ms: terms.receiptPollMs,
    },
    finalize: { ...finalize, confirmations: terms.finalizeConfirmations },
    daemon: {
      ...daemon,
      follow_interval_ms: terms.periodMs,
      finalize_interval_ms: terms.periodMs,
    },
  }
}

/** Throws when the node or the store does not answer: then the process ends, as the command does. */
export async function startDaemon(deps: DaemonDeps) {
  const { process, store, draws, report: log } = deps
  const { clock } = process
  const config = configOf(deps.terms)
  const storage = storageOn(deps)
  const parts = {
    config,
    profile: profileOf(config),
    storage,
    chainSide: await openChainSide(deps),
    seed,
    clock,
    telemetry: { log, metrics: { source: () => undefined } },
  } as unknown as Parts
  const addresses: AddressSource = {
    take: async () => ({
      challengeNonce: draws.hex(32) as never,
      payTo: draws.hex(20) as Address,
      powNonce: 0,
      powBits: 0,
    }),
    giveBack: () => undefined,
  }
  const make = {
    finalization: async (leased: LeasedParts) => wireFinalization(leased, deps),
    fees: () => noFees,
  }
  const keeper: LeasedSideKeeper = await keepLeasedSide({
    leases: store.leases,
    isCopy: false,
    isOld: () => false,
    acceptCopy: async () => undefined,
    clock,
    log,
    pollMs: 1_500,
    make: (active) => createLeasedSide(parts, { addresses, signers }, active, make),
  })
  keeper.start()
  return {
    issue: (...asked: Parameters<PaymentFlow['issueChallenge']>) =>
      keeper.current().flow.issueChallenge(...asked),
    async settle(presented: FacilitatorApi.PresentedPayment) {
      const { flow } = keeper.current()
      return flow.settle(presented, await storage.ledger.presented(presented.payload))
    },
    isActive: keeper.isActive,
    queue: () => keeper.current().senders.relayer.queue(),
  }
}

/** The storage of `openLedger`, as far as the simulation has it. */
function storageOn({ store, process, settings, isKeyShared }: DaemonDeps): Storage {
  const { clock } = process
  const at = () => ({ now: Math.floor(clock.now() / 1000), settings })
  const ledger = createStoreLedger({ store, clock, settings })
  const portsOn = (on: Store) => ({
    store: on,
    ledger: { ...ledger.on(on), books: createStoreBooks(on, at) },
    issued: createIssuedStore(on),
    bindAccount: (name: AccountName, account: KnownAccount) => on.change('bindAccount', name, account),
  })
  const storage: Partial<Storage> = {
    ...portsOn(store),
    under: (leases) => portsOn(under(store, leases)),
    ...(store.leases.holder !== undefined && { shared: {} as NonNullable<Storage['shared']> }),
    knownAccount: async (name) => (isKeyShared ? undefined : store.ask(readAccount(name))),
  }
  return storage as Storage
}

async function openChainSide({
  process,
  network,
  terms,
  relayer: address,
  report,
}: DaemonDeps): Promise<ChainSide> {
  const { clock } = process
  const rpc = network.rpcOf(process)
  const chain = createChainReader({ rpc, token, helper, chainId, fromBlock: 0, ...limits })
  chain.sawHead(await readHead(rpc))
  const gasPrices = createGasPrices({
    rpc,
    clock,
    freshMs: limits.gasPricesFreshMs,
    bumpPercent: limits.priceBumpPercent,
    feePerGasMax: 500n * 10n ** 9n,
    tipPerGasMax: 100n * 10n ** 9n,
  })
  return {
    rpc,
    chain,
    gasPrices,
    relayer: address,
    deployment: { chainId, token, tokenName: 'T', treasury, helper },
    openSenders({ recordEmpty }) {
      const relayer = createRelayer({
        rpc,
        chainId,
        clock,
        report,
        gasPrices,
        // Most looks find nothing new, and looks are what a simulation costs.
        limits: { ...limits, receiptPollFirstMs: 100, receiptPollMaxMs: 1_000 },
        account: network.accountOf(address),
        recordEmpty,
        confirmations: terms.confirmations,
        reorgWatchBlocks: terms.reorgWatchBlocks,
        onHead: chain.sawHead,
      })
      return { relayer, minter: undefined, mintSender: createMintSender({ relayer, minter: undefined }) }
    },
  }
}

/** Nothing is charged for payments here. */
const noFees = {
  startLoop: () => undefined,
  closeSender: async () => undefined,
  close: async () => undefined,
} as unknown as FeesSide

function wireFinalization(parts: LeasedParts, deps: DaemonDeps): Finalization {
  const { chainSide, senders, storage, clock, telemetry } = parts
  const { rpc } = chainSide
  const { draws, terms } = deps
  const { ledger, store } = storage
  const report = telemetry.log
  const minter = createMinter({ rpc, sender: senders.mintSender, recordSigned: ledger.recordMintSigned })
  const delayMs = draws.between(0, terms.delayMaxMs)
  const nothing = () => Promise.reject(new Error('no payment is minted in a batch here'))
  const finalize = createFinalize({
    ledger,
    minter,
    clock,
    report,
    verifier: wireVerifier(deps),
    reread: createRereadBurn(chainSide),
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
      dustBelow: 0n,
      followedLeaves: nothing,
      fits: () => 0,
      rangeOf: () => ({ count: 0, end: 0n }),
      pace: { least: 1, floor: 0n, waitMaxMs: 0, jitterMs: 0 },
    },
    schedule: createMintSchedule({
      // One delay for all: every look draws hundreds of them.
      store,
      clock,
      delayMs: () => delayMs,
      chance: draws.fraction,
      retryMs: { first: terms.periodMs, max: 10 * terms.periodMs },
    }),
    shuffle: (items) => items,
    burnConfirmations: terms.confirmations,
    limits: { ...limits, attemptsInFlightMax: 3, mintWaitMs: limits.mintWaitMinMs },
  })
  const { periodMs } = terms
  const backOffMaxMs = periodMs * limits.finalizeBackOffPeriodsMax
  let loop: Loop | undefined
  return {
    off: undefined,
    resumeMints: () => resumeMints({ ledger, minter, report }),
    startLoop() {
      loop = startFinalizeLoop({ finalize, clock, periodMs, backOffMaxMs, report })
    },
    async close() {
      await loop?.stop()
    },
  }
}

/** Where the real one asks a contract, this one asks the chain: the node between may lag and fail all the same. */
function wireVerifier({ chain, network, process, terms }: DaemonDeps): MintVerifier {
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
