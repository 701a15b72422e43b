/** `svc-facilitator recover`: finds every burn of this facilitator, finalizes those that are not, and ends. */
import { availableParallelism } from 'node:os'
import { type ChallengeNonce, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { deriveSeed } from '@svc-zerc20/zk'
import { createDeriveAddress } from '../../addresses/derive.js'
import { epochsBefore } from '../../addresses/epochs.js'
import { createAddressMiner } from '../../addresses/miner.js'
import { createRereadBurn } from '../../chain/reread-burn.js'
import { createTokenChain } from '../../chain/transfers/token-chain.js'
import { limits } from '../../config/limits.js'
import { dustBelow, foundDepth, profileOf, whyOff } from '../../config/settings.js'
import type { Mintable, MintVerifier } from '../../payment/finalize/ports.js'
import type { Step } from '../../payment/finalize/round.js'
import type { Clock } from '../../payment/ports.js'
import type { AwaitingMint } from '../../payment/records.js'
import { type ChainSide, openChainSide } from '../../start/chain-side.js'
import { createFinalization, wireVerifier } from '../../start/finalization.js'
import { createFollowing } from '../../start/following.js'
import { createPaymentFlow } from '../../start/payment-flow.js'
import type { StartOptions } from '../../start/start.js'
import { acceptCopy, type Storage } from '../../start/storage.js'
import { readMark } from '../../store/journal/mark.js'
import { assertAccountsKnown } from '../../store/known-accounts.js'
import { systemRandom } from '../../system.js'
import { createTelemetry } from '../../telemetry/telemetry.js'
import { createBurnSearch, inParts } from './burn-search.js'
import { finalizeAll } from './finalize-all.js'
import { type FindBurnsDeps, type FoundBurn, findBurns, type NonceAndValue } from './find-burns.js'
import { type RecoveryReport, reportOf } from './report.js'
import { openRecoveryStorage } from './storage.js'

export type RecoverOptions = StartOptions & {
  readonly dryRun: boolean
  /** Challenge nonces of self-transfers whose records are lost. */
  readonly nonces: readonly ChallengeNonce[]
  /** Ids of earlier ledgers whose journals are lost, and which made addresses of epochs. */
  readonly ledgerIds: readonly string[]
  /** Proofs of work that were configured in the past. */
  readonly powBits: readonly number[]
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

type Recovery = Required<RecoverOptions> & {
  readonly storage: Storage
  readonly chainSide: ChainSide
  readonly seed: Uint8Array
  readonly verifier: MintVerifier
  readonly telemetry: ReturnType<typeof createTelemetry>
}

/** May be killed and run again at any time: every step is in the journal or on the chain before it counts. */
export async function recoverBurns(given: RecoverOptions): Promise<RecoveryReport> {
  const options = { clock: systemClock, random: systemRandom, acceptJournal: false, ...given }
  const { config, secrets, clock } = options
  const off = whyOff(config, profileOf(config))
  if (off !== undefined) throw new SvcError('config_invalid', `nothing can be minted: ${off}`)
  const telemetry = createTelemetry({ log: options.log, clock, linkMints: true })
  const seed = deriveSeed(secrets.treasuryKey.reveal())
  // The mark outlives a lost journal. Opening a new one replaces it.
  const marked = readMark(config.settlement.journal)?.id
  const { storage, close } = await openRecoveryStorage(options, seed)
  try {
    const chainSide = await openChainSide({ config, secrets, clock, telemetry })
    await acceptCopy(storage, chainSide.rpc, telemetry.log)
    await assertAccountsKnown({
      storage,
      ...chainSide,
      // A dry run works on a copy of the ledger and changes nothing.
      isAccepted: storage.isCopy || options.dryRun,
    })
    const verifier = wireVerifier(config, chainSide, seed)
    const made =
      config.finalize.mode === 'batch' ? [storage.id, ...(marked === undefined ? [] : [marked])] : []
    const ledgerIds = [...new Set([...options.ledgerIds, ...made])]
    const recovery = { ...options, ledgerIds, storage, chainSide, seed, verifier, telemetry }
    const report = options.dryRun ? await look(recovery) : await recover(recovery)
    chainSide.relayer.close()
    chainSide.minter?.close()
    chainSide.rpc.close()
    return report
  } finally {
    telemetry.close()
    await close()
  }
}

async function recover(recovery: Recovery): Promise<RecoveryReport> {
  const { config, storage, chainSide, seed, clock, telemetry, signal } = recovery
  const { ledger } = storage
  const flow = await createPaymentFlow({
    config,
    chainSide,
    ledger,
    seed,
    clock,
    telemetry,
    addresses: noAddresses,
  })
  const finalization = await createFinalization({
    ...recovery,
    profile: profileOf(config),
    ledger,
    store: storage.store,
    issued: storage.issued,
    pace: {
      batch: { least: 1, waitMaxMs: 0, jitterMs: 0 },
      delayMaxMs: 0,
      retryMs: { first: limits.recoverPauseMs, max: limits.recoverRetryMaxMs },
    },
    deciderToken: recovery.secrets.deciderToken,
  })
  try {
    // As at a start: transactions that a crash interrupted still hold txNonces of the relayer and may be mined by now.
    await finalization.resumeMints()
    flow.resume.resumeTransactions()
    await Promise.all([chainSide.relayer.start(), chainSide.minter?.start()])
    await flow.resume.restartClaims()
    await withinMs(flow.burns.idle(), config.settlement.receipt_poll_ms, clock)
    const found = await find(recovery)
    const { round = () => Promise.resolve(new Map()) } = finalization
    const steps = await finalizeAll({
      finalize: { round },
      ledger,
      clock,
      signal,
      report: telemetry.log,
      limits,
    })
    return reportOf(found, ({ nonce }) => steps.get(nonce), false)
  } finally {
    await finalization.close()
    await flow.close()
  }
}

/** The dry run: finds and judges like `recover`, and changes nothing. */
async function look(recovery: Recovery): Promise<RecoveryReport> {
  const { storage, verifier } = recovery
  const found = await find(recovery)
  const awaiting: AwaitingMint[] = []
  for await (const payment of storage.ledger.awaitingMint()) awaiting.push(payment)
  const root = await verifier.latestRoot()
  const steps = new Map<ChallengeNonce, Step | 'due'>()
  for (const some of inParts(awaiting, limits.paymentsPerRoundMax)) {
    const states = await verifier.mintStates(some)
    for (const [i, { challenge, burn }] of some.entries()) {
      const waits: Step | 'due' = root.isPaused
        ? 'verifier_paused'
        : burn.leafIndex >= root.size
          ? 'root_behind'
          : 'due'
      // What was minted for an epoch does not tell which of its burns it was for.
      const isOpen = states[i] === 'due' || challenge.epoch !== undefined
      steps.set(challenge.nonce, isOpen ? waits : states[i] === 'shallow' ? 'confirming' : 'due')
    }
  }
  return reportOf(found, ({ nonce }) => steps.get(nonce), true)
}

async function find(recovery: Recovery): Promise<readonly FoundBurn[]> {
  const { config, storage, chainSide, seed, clock, telemetry, say } = recovery
  const { network, settlement } = config
  const tokenSince = await timeOf(recovery, BigInt(network.deployed_block))
  const miner = createAddressMiner({ threads: availableParallelism() })
  try {
    return await findBurns(
      {
        ledger: storage.ledger,
        search: createBurnSearch({
          rpc: chainSide.rpc,
          chain: chainSide.chain,
          token: network.token,
          helper: settlement.permit_burner,
          fromBlock: network.deployed_block,
          limits,
        }),
        reread: createRereadBurn(chainSide),
        depth: foundDepth(config),
        derive: createDeriveAddress(miner, seed, config),
        epochsBefore: epochsBefore(config, recovery.ledgerIds, tokenSince),
        // Those below cost no more together than the one that is configured.
        otherPowBits: [...recovery.powBits, ...below(config.zerc20.pow_bits)],
        relayer: chainSide.relayer.address,
        areMinted: mintedBy(recovery),
        treasury: settlement.treasury,
        firstBlock: BigInt(network.deployed_block),
        follow: () => followAll(recovery),
        minedAt: (blockNumber) => timeOf(recovery, blockNumber),
        dustBelow: dustBelow(config),
        clock,
        report: telemetry.log,
        derivedAtOnceMax: limits.derivedAtOnceMax,
        say,
      },
      recovery.nonces,
    )
  } finally {
    await miner.close()
  }
}

/** Follows transfers to every address issued in the last months, even if its challenge was forgotten. */
async function followAll(recovery: Recovery): Promise<ReadonlySet<ChallengeNonce>> {
  const following = createFollowing(recovery)
  const nonces = new Set<ChallengeNonce>()
  for (;;) {
    recovery.signal.throwIfAborted()
    const { recorded, isDone, failures } = await following.round(recovery.signal)
    for (const nonce of recorded) nonces.add(nonce)
    if (failures.length > 0) throw failures[0]
    if (isDone) return nonces
  }
}

async function timeOf({ config, chainSide }: Recovery, blockNumber: bigint): Promise<UnixSeconds> {
  const chain = createTokenChain({ ...chainSide, token: config.network.token, ...limits })
  const block = await chain.block(Number(blockNumber))
  if (!block) throw new SvcError('node_behind', `the node has no block ${blockNumber}`)
  return block.time
}

/** Asks the verifier by the value that a mint reveals, which follows from nonce and treasury alone. */
function mintedBy({ verifier, config }: Recovery): FindBurnsDeps['areMinted'] {
  const { treasury } = config.settlement
  const toPayment = ({ nonce, value }: NonceAndValue): Mintable => ({
    challenge: { nonce, treasury, powNonce: 0 },
    burn: { value },
  })
  return async (burns) => {
    const minted: boolean[] = []
    for (const some of inParts(burns, limits.paymentsPerRoundMax)) {
      const states = await verifier.mintStates(some.map(toPayment))
      minted.push(...states.map((state) => state === 'minted'))
    }
    return minted
  }
}

async function withinMs(task: Promise<void>, ms: number, clock: Clock): Promise<void> {
  const done = new AbortController()
  await Promise.race([task, clock.sleep(ms, done.signal)]).finally(() => done.abort())
}

const below = (bits: number): number[] => Array.from({ length: bits }, (_, i) => bits - 1 - i)

/** An empty pool: nothing is issued during recovery. */
const noAddresses = { take: async () => undefined, giveBack: () => undefined }
