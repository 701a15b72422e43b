/** Finalization, wired: paths, proofs and mints of this daemon, and the loop that drives them. */
import { SvcError } from '@svc-zerc20/protocol'
import { createProver, type Prover } from '@svc-zerc20/prover'
import { readArtifacts } from '@svc-zerc20/zk'
import { createBurnSecrets } from '../adapters/burn-secrets.js'
import { createIndexer } from '../adapters/indexer.js'
import { createMerklePaths } from '../adapters/merkle-paths.js'
import { createMintProofs } from '../adapters/mint-proofs.js'
import { createMinter } from '../adapters/minter.js'
import type { OpenLedger } from '../adapters/open-ledger.js'
import { createOwnTree, type OwnTree } from '../adapters/own-tree.js'
import { createRereadBurn } from '../adapters/reread-burn.js'
import { createVerifier } from '../adapters/verifier.js'
import type { Config } from '../config/config.js'
import { limits } from '../limits.js'
import { createFinalize, type Finalize } from '../payment/finalize.js'
import { type FinalizeLoop, startFinalizeLoop } from '../payment/finalize-loop.js'
import type { Clock, Minter } from '../payment/ports.js'
import type { Profile } from '../profile.js'
import { conditionsMissing } from '../secrets/secrets.js'
import type { ChainSide } from './chain-side.js'
import type { Telemetry } from './operation.js'

export type FinalizationDeps = {
  readonly config: Config
  readonly profile: Profile
  readonly chainSide: ChainSide
  readonly ledger: OpenLedger['ledger']
  readonly seed: Uint8Array
  readonly clock: Clock
  readonly random: { bytes(length: number): Uint8Array }
  readonly telemetry: Telemetry
}

export type Finalization = {
  /** Absent while nothing is minted here: a gated profile, or no proving keys. */
  readonly retry: Finalize['retry'] | undefined
  /** Hands mints of the last run back to the relayer; before it assigns new nonces. */
  resumeMints(): void
  start(): void
  close(): Promise<void>
}

export async function createFinalization(deps: FinalizationDeps): Promise<Finalization> {
  const { config, profile, chainSide, ledger, telemetry } = deps
  const { rpc, relayer, deployment } = chainSide
  const report = telemetry.log
  const minter = createMinter({
    rpc,
    relayer,
    token: deployment.token,
    recordSigned: (transaction, nonces) => ledger.recordMintSigned(transaction, nonces),
  })
  const resumeMints = () => {
    if (!profile.acceptsPayments) return
    for (const interrupted of ledger.interrupted().mints) {
      void minter.resume(interrupted)
      for (const nonce of interrupted.nonces) report({ event: 'mint.resumed', challengeNonce: nonce })
    }
  }
  const off = !profile.acceptsPayments
    ? `the profile ${profile.name} freezes finalization`
    : config.zerc20.artifacts === undefined && 'zerc20.artifacts is not set'
  if (off !== false) {
    return {
      retry: undefined,
      resumeMints,
      start: () => report({ event: 'finalize.off', reason: off }),
      close: async () => undefined,
    }
  }
  const { prover, ownTree } = await openProving(config)
  const finalize = wireFinalize(deps, minter, prover, ownTree)
  let loop: FinalizeLoop | undefined
  return {
    retry: finalize.retry,
    resumeMints,
    start() {
      loop = startFinalizeLoop({
        finalize,
        clock: deps.clock,
        periodMs: config.daemon.finalize_interval_ms,
        backOffMaxMs: config.daemon.finalize_interval_ms * limits.finalizeBackOffPeriodsMax,
        report,
      })
    },
    async close() {
      await loop?.stop()
      await prover.close()
      await ownTree.close()
    },
  }
}

async function openProving(config: Config): Promise<{ prover: Prover; ownTree: OwnTree }> {
  const { network, zerc20, finalize } = config
  const { folder, manifest } = await readArtifacts(zerc20.artifacts ?? '')
  const missing = conditionsMissing(config)
  if (manifest.setup === 'development' && missing.length > 0) {
    throw new SvcError(
      'config_invalid',
      `zerc20.artifacts: keys of a development setup, which need ${missing.join(' and ')}`,
    )
  }
  const rpc = {
    url: network.rpc_url,
    timeoutMs: limits.rpcTimeoutMs,
    answerBytesMax: limits.rpcAnswerBytesMax,
  }
  return {
    prover: createProver({ folder, processes: finalize.prover_processes }),
    ownTree: createOwnTree({
      rpc,
      tree: {
        token: network.token,
        fromBlock: network.deployed_block,
        spanBlocksMax: limits.logSpanBlocksMax,
      },
    }),
  }
}

function wireFinalize(deps: FinalizationDeps, minter: Minter, prover: Prover, ownTree: OwnTree): Finalize {
  const { config, chainSide, ledger, clock, random, telemetry } = deps
  const { network, finalize, daemon } = config
  const secretsOf = createBurnSecrets(deps.seed, config)
  const indexer = createIndexer({
    url: network.indexer_url,
    chainId: network.chain_id,
    token: network.token,
    timeoutMs: limits.indexerTimeoutMs,
    answerBytesMax: limits.indexerAnswerBytesMax,
  })
  return createFinalize({
    ledger,
    verifier: createVerifier({
      rpc: chainSide.rpc,
      verifier: network.verifier,
      secretsOf,
      confirmations: finalize.confirmations,
    }),
    reread: createRereadBurn(chainSide.chain),
    prove: createMintProofs({
      secretsOf,
      paths: createMerklePaths({ indexer, ownTree, report: telemetry.log }),
      prover,
      verifier: network.verifier,
      mintGas: limits.mintGas,
    }),
    minter,
    clock,
    report(event) {
      telemetry.log(event)
      if (event.event === 'mint.proved') telemetry.metrics.observe('svc_mint_proof_seconds', event.ms / 1000)
    },
    delayMs: () => (Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32) * finalize.delay_max_ms,
    retryMs: {
      first: daemon.finalize_interval_ms,
      max: daemon.finalize_interval_ms * limits.finalizeBackOffPeriodsMax,
    },
    paymentsPerRoundMax: limits.paymentsPerRoundMax,
    // While one mint waits for its block, the next is being proved.
    attemptsInFlightMax: finalize.prover_processes + limits.mintsAheadMax,
  })
}
