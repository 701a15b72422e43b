/**
 * Brings the verifier's proved root up to the token's leaves. Every round begins with the present state of
 * the chain. A reorg, a restart or another prover's proof therefore needs no special case: the next round
 * starts from another index.
 */
import type { GasPriceCeiling } from '@svc-zerc20/evm'
import { type Address, backOffMs, type Clock, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import type { Chain } from '../chain/chain.js'
import type { Log } from '../events.js'
import { codeOf, sentenceOf } from '../failure.js'
import { limits } from '../limits.js'
import type { Database } from '../store/database.js'
import { type Checkpoints, createCheckpoints } from './checkpoints.js'
import { createGathering } from './gathering.js'
import { createPace } from './pace.js'
import { createProofs } from './proofs.js'
import { planAhead, planRoot, type RootPlan } from './root-plan.js'
import { proveCall, witnessOf } from './root-step.js'
import type { Sender } from './sender.js'
import { createWatchedProof, isOutrun, type RootProver } from './watched-proof.js'

export type RootJobOptions = {
  readonly prover: RootProver
  /** An account that the verifier allows to prove, with money for gas. Only this job may use it. */
  readonly privateKey: Hex
  /** Highest gas price of its transactions. */
  readonly ceiling?: GasPriceCeiling
  /** How long unproved transfers wait for more transfers. */
  readonly gatherMs?: number
  /** How long they wait when all of them are mints. Nobody waits for a mint, because a mint pays for nothing. */
  readonly mintGatherMs?: number
  /** Pause between two looks. */
  readonly pollMs?: number
  /** Proofs that the prover makes at once. */
  readonly proofsAtOnce?: number
}

export type RootJob = {
  run(signal: AbortSignal): Promise<void>
  view(): { readonly generatedIndex: number | undefined; readonly error: string | undefined }
}

const defaults = {
  gatherMs: 2_000,
  mintGatherMs: 60_000,
  pollMs: limits.rootPollMs,
  proofsAtOnce: 1,
} as const

/** Creates the job. Its sender numbers the transactions of one key, so a key has one job. */
export function createRootJob(
  deps: RootJobOptions & {
    chain: Chain
    database: Database
    sender: Pick<Sender, 'send'>
    verifier: Address
    clock: Clock
    log: Log
  },
): RootJob {
  const { chain, database, sender, verifier, prover, clock, log } = deps
  const { gatherMs, mintGatherMs, pollMs, proofsAtOnce } = { ...defaults, ...deps }
  const checkpoints: Checkpoints = createCheckpoints({ chain, database, sender, verifier, log })
  const prove = createWatchedProof({ prover, chain, checkpoints, database, clock, log, pollMs })
  const pace = createPace()
  const proofs = createProofs({ prove, database, clock, log, onProved: pace.proved })
  const gathering = createGathering({ database, clock, gatherMs, mintGatherMs })
  let failures = 0
  let error: string | undefined

  /** True when something was done, so that the next look need not wait. */
  async function round(signal: AbortSignal): Promise<boolean> {
    const state = await chain.verifierNow()
    checkpoints.observe(state)
    if (!gathering.isRipe(state.provedIndex)) return false
    if (state.isPaused) throw new SvcError('verifier_paused', 'the verifier is paused')
    await assertSameRoot(state.provedIndex)
    const target = checkpoints.furthest(state.provedIndex) ?? database.head().size
    const plan = planRoot(state.provedIndex, target, pace.stepMs())
    const witness = witnessOf(database, plan)
    const further = planAhead(plan, target, proofsAtOnce)
    const ahead = further.map((next) => ({ plan: next, witness: witnessOf(database, next) }))
    // The proof does not wait for the block of the reservation: what is transferred up to there is no part of the proof,
    // and only leads on to it.
    const reserving = checkpoints.reserveIfDue(state, signal)
    const proving = proofs.of(plan, witness, signal)
    // The prover goes on while a root waits for its block.
    for (const next of ahead) proofs.ahead(next.plan, next.witness, signal)
    const [proof] = await Promise.all([proving, reserving])
    if (proof === undefined) return true
    const checkpoint = checkpoints.furthest(state.provedIndex)
    // Transfers of the reservation's block are not read yet.
    if (checkpoint === undefined || checkpoint < plan.newIndex) return false
    await submit(plan, witness.newRoot, proof, checkpoint, signal)
    gathering.restart()
    return true
  }

  async function assertSameRoot(provedIndex: number): Promise<void> {
    const proved = await chain.provedRoot(provedIndex)
    if (proved !== database.rootAt(provedIndex)) {
      throw new SvcError(
        'proved_root_mismatch',
        `the verifier holds another root at ${provedIndex} than the tree`,
      )
    }
  }

  async function submit(
    plan: RootPlan,
    newRoot: bigint,
    proof: readonly bigint[],
    known: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { oldIndex, newIndex } = plan
    if (isOutrun(plan, await chain.verifierNow(), log)) return
    const startedAt = clock.now()
    const checkpoint = await checkpoints.nearest({ newIndex, oldIndex, known }, signal)
    const data = proveCall(database, { plan, newRoot, proof, checkpoint })
    const { transactionHash, cost } = await sender.send({ to: verifier, data }, signal)
    log({ event: 'root.submitted', newIndex, checkpoint, transaction: transactionHash, gasUsed: cost?.gas })
    pace.submitted(clock.now() - startedAt)
  }

  async function poll(signal: AbortSignal): Promise<number> {
    try {
      const isMoved = await round(signal)
      failures = 0
      error = undefined
      return isMoved ? 0 : pollMs
    } catch (failure) {
      if (signal.aborted) return 0
      failures += 1
      const retryMs = backOffMs(failures, limits.rootBackoffMs, limits.rootBackoffMaxMs)
      error = sentenceOf(failure)
      log({ event: 'root.failed', code: codeOf(failure), err: failure, retryMs })
      return retryMs
    }
  }

  return {
    async run(signal) {
      while (!signal.aborted) await clock.sleep(await poll(signal), signal)
      await proofs.done()
    },
    view: () => ({ generatedIndex: proofs.lastIndex(), error }),
  }
}
