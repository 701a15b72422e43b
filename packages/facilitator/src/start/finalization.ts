/** Finalization, wired: paths, proofs and mints of this facilitator. */
import { closeAll } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import { createProver, type Prover } from '@svc-zerc20/prover'
import { type DeciderProver, withDecider } from '@svc-zerc20/prover/decider-client'
import { ArtifactError, keysRefused, type Manifest, readArtifacts } from '@svc-zerc20/zk'
import { createBatchCounts } from '../chain/batch-counts.js'
import { createIndexer, type Indexer } from '../chain/indexer.js'
import { createRereadBurn } from '../chain/reread-burn.js'
import { createVerifier } from '../chain/verifier.js'
import type { Config } from '../config/config.js'
import { limits } from '../config/limits.js'
import { conditionsMissing, dustBelow, paceOf, rpcOptions, whyOff } from '../config/settings.js'
import { createFinalize, type Finalize } from '../payment/finalize/finalize.js'
import { startFinalizeLoop } from '../payment/finalize/loop.js'
import type { MintVerifier } from '../payment/finalize/ports.js'
import { resumeMints } from '../payment/finalize/send.js'
import type { Loop } from '../payment/loop.js'
import type { Minter } from '../payment/ports.js'
import { createBatchProofs } from '../proving/batch-proofs.js'
import { createBurnSecrets, createRecipientHashes } from '../proving/burn-secrets.js'
import { createOwnTree, type OwnTree } from '../proving/own-tree.js'
import { createMerklePaths } from '../proving/paths.js'
import { createMintProofs, type MintProver, type WitnessSources } from '../proving/proofs.js'
import { createMinter } from '../sending/relayer/minter.js'
import { createMintSchedule } from '../store/adapters/schedule.js'
import type { ChainSide, Senders } from './chain-side.js'
import type { LeasedParts } from './parts.js'

export type Finalization = {
  /** Why nothing is minted here: a gated profile, or no proving keys. The members below are absent then. */
  readonly off: string | undefined
  readonly retry?: Finalize['retry']
  readonly waits?: Finalize['waits']
  /** The proof that the decider is asked for. */
  readonly deciderWait?: DeciderProver['waitsFor'] | undefined
  /** How far the indexer is. */
  readonly indexerStatus?: Indexer['status']
  /** Hands mints of the last run back to their senders, before those assign new txNonces. */
  resumeMints(): Promise<void>
  /** Runs rounds until it is closed. */
  startLoop(): void
  close(): Promise<void>
}

export async function createFinalization(parts: LeasedParts): Promise<Finalization> {
  const { config, profile, chainSide, clock, telemetry } = parts
  const { ledger } = parts.storage
  const report = telemetry.log
  const minter = createMinter({
    rpc: chainSide.rpc,
    sender: parts.senders.mintSender,
    recordSigned: (transaction, nonces) => ledger.recordMintSigned(transaction, nonces),
  })
  const resume = async () => {
    if (profile.acceptsPayments) await resumeMints({ ledger, minter, report })
  }
  const off = whyOff(config, profile)
  if (off !== undefined) {
    const startLoop = () => report({ event: 'finalize.off', reason: off })
    return {
      off,
      resumeMints: resume,
      startLoop,
      close: async () => undefined,
    }
  }
  const { prover: own, ownTree, manifest } = await openProving(config)
  const { deciderToken: token } = parts.secrets
  const decider = token && { url: config.network.decider_url, token, clock, report }
  const prover: ProverWithDecider = decider ? await withDecider(own, manifest, decider) : own
  const indexer = wireIndexer(config)
  const sources = {
    secretsOf: createBurnSecrets(parts.seed, config),
    paths: createMerklePaths({ indexer, ownTree, report }),
  }
  const finalize = wireFinalize(parts, minter, { ...sources, prover })
  let loop: Loop | undefined
  return {
    off,
    waits: finalize.waits,
    deciderWait: prover.waitsFor,
    indexerStatus: indexer.status,
    async retry(nonce) {
      await finalize.retry(nonce)
      loop?.wake()
    },
    resumeMints: resume,
    startLoop() {
      report({ event: 'finalize.on', artifacts: config.zerc20.artifacts ?? '' })
      const periodMs = config.daemon.finalize_interval_ms
      const backOffMaxMs = periodMs * limits.finalizeBackOffPeriodsMax
      loop = startFinalizeLoop({ finalize, clock, periodMs, backOffMaxMs, report })
    },
    async close() {
      await closeAll([() => loop?.stop(), () => prover.close(), () => ownTree.close()])
    },
  }
}

type ProverWithDecider = Prover & Partial<Pick<DeciderProver, 'waitsFor'>>

async function openProving(
  config: Config,
): Promise<{ prover: Prover; ownTree: OwnTree; manifest: Manifest }> {
  const { network, zerc20, finalize } = config
  const invalid = (message: string, cause?: unknown) =>
    new SvcError('config_invalid', `zerc20.artifacts: ${message}`, { cause })
  const { folder, manifest } = await readArtifacts(zerc20.artifacts ?? '').catch((err: unknown) => {
    throw err instanceof ArtifactError ? invalid(err.message, err) : err
  })
  const refused = keysRefused(manifest, conditionsMissing(config))
  if (refused !== undefined) throw invalid(refused)
  const tree = {
    token: network.token,
    fromBlock: network.deployed_block,
    spanBlocksMax: limits.logSpanBlocksMax,
  }
  return {
    manifest,
    prover: createProver({ folder, processes: finalize.prover_processes }),
    ownTree: createOwnTree({ rpc: rpcOptions(network.rpc_url), tree }),
  }
}

export function wireVerifier(config: Config, chainSide: ChainSide, seed: Uint8Array): MintVerifier {
  return createVerifier({
    rpc: chainSide.rpc,
    verifier: config.network.verifier,
    secretsOf: createBurnSecrets(seed, config),
    confirmations: config.finalize.confirmations,
  })
}

function wireIndexer({ network }: Config): Indexer {
  return createIndexer({
    url: network.indexer_url,
    chainId: network.chain_id,
    token: network.token,
    timeoutMs: limits.indexerTimeoutMs,
    statusMs: limits.indexerStatusMs,
    answerBytesMax: limits.indexerAnswerBytesMax,
  })
}

/** The count of each epoch belongs to the account that sends our mints. */
function wireBatchCounts(
  config: Config,
  { rpc }: Pick<ChainSide, 'rpc'>,
  { mintSender }: Senders,
  seed: Uint8Array,
): ReturnType<typeof createBatchCounts> {
  return createBatchCounts({
    rpc,
    verifier: config.network.verifier,
    submitter: mintSender.address,
    recipientHashOf: createRecipientHashes(seed, config),
    deployedBlock: config.network.deployed_block,
    confirmations: config.finalize.confirmations,
  })
}

function wireFinalize(
  parts: LeasedParts,
  minter: Minter,
  proofs: WitnessSources & { readonly prover: MintProver },
): Finalize {
  const { config, chainSide, storage, seed, clock, random, telemetry } = parts
  const pace = paceOf(config)
  const { network, finalize, settlement } = config
  const { found, mark, followedLeaves } = storage.issued
  const proving = { ...proofs, verifier: network.verifier, mintGas: limits.mintGas }
  return createFinalize({
    ledger: storage.ledger,
    verifier: wireVerifier(config, chainSide, seed),
    reread: createRereadBurn(chainSide),
    prove: createMintProofs(proving),
    batches: {
      ...wireBatchCounts(config, chainSide, parts.senders, seed),
      found,
      mark,
      followedLeaves,
      dustBelow: dustBelow(config),
      ...createBatchProofs(proving),
      pace: pace.batch,
    },
    minter,
    clock,
    report: telemetry.log,
    schedule: createMintSchedule({
      store: storage.store,
      clock,
      delayMs: () => fraction(random) * pace.delayMaxMs,
      chance: () => fraction(random),
      retryMs: pace.retryMs,
    }),
    shuffle: (items) =>
      items
        .map((item) => ({ item, at: fraction(random) }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
    burnConfirmations: settlement.confirmations,
    limits: {
      ...limits,
      // While one mint waits for its block, the next is being proved.
      attemptsInFlightMax: finalize.prover_processes + limits.mintsAheadMax,
      mintWaitMs: Math.max(config.daemon.finalize_interval_ms * limits.mintWaitPeriods, limits.mintWaitMinMs),
    },
  })
}

/** In [0, 1). */
const fraction = (random: { bytes(length: number): Uint8Array }): number =>
  Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32
