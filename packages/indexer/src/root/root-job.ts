/**
 * Brings the verifier's proved root up to the token's leaves. Every round begins with what the chain says now, so a
 * reorg, a restart or somebody else's proof needs no special case: the next round starts from another place.
 */
import type { FeeCeiling, Sender } from '@svc-zerc20/evm'
import {
  type Address,
  backOffMs,
  type Clock,
  createBoundedMap,
  SvcError,
  zeroAddress,
} from '@svc-zerc20/protocol'
import type { RootWitness } from '@svc-zerc20/zk'
import type { Hex } from 'viem'
import type { Chain } from '../chain/chain.js'
import type { Log } from '../events.js'
import { codeOf, sentenceOf } from '../failure.js'
import { limits } from '../limits.js'
import type { Database } from '../store/database.js'
import { type Checkpoints, createCheckpoints } from './checkpoints.js'
import { createPace } from './pace.js'
import { planRoot, type RootPlan } from './root-plan.js'
import { proveCall, transfersBetween, witnessOf } from './root-step.js'
import { createWatchedProof, isOutrun, type RootProver } from './watched-proof.js'

export type RootJobOptions = {
  readonly prover: RootProver
  /** An account that the verifier allows to prove, with money for gas; used by nobody else. */
  readonly privateKey: Hex
  /** Most that its transactions pay for gas. */
  readonly ceiling?: FeeCeiling
  /** Unproved transfers wait so long for company. */
  readonly gatherMs?: number
  /** The same when all of them are mints, which nobody waits for: a mint pays for nothing. */
  readonly mintGatherMs?: number
  /** Pause between two looks. */
  readonly lookMs?: number
}

export type RootJob = {
  run(signal: AbortSignal): Promise<void>
  view(): { readonly generatedIndex: number | undefined; readonly error: string | undefined }
}

const defaults = { gatherMs: 2_000, mintGatherMs: 60_000, lookMs: 500 } as const

/** Creates the job; it sends sender, so there is one per key. */
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
  const {
    gatherMs = defaults.gatherMs,
    mintGatherMs = defaults.mintGatherMs,
    lookMs = defaults.lookMs,
  } = deps
  const checkpoints: Checkpoints = createCheckpoints({ chain, database, sender, verifier, log })
  const prove = createWatchedProof({ prover, chain, checkpoints, database, clock, log, lookMs })
  const pace = createPace()
  const proofs = createBoundedMap<string, readonly bigint[]>(limits.proofsKept)
  let pendingSince: number | undefined
  let generatedIndex: number | undefined
  let failures = 0
  let error: string | undefined

  /** Whether something was done, so that the next look need not wait. */
  async function round(signal: AbortSignal): Promise<boolean> {
    const state = await chain.verifierNow()
    checkpoints.observe(state)
    if (!isRipe(state.provedIndex)) return false
    if (state.isPaused) throw new SvcError('verifier_paused', 'the verifier is paused')
    await assertSameRoot(state.provedIndex)
    await checkpoints.reserveIfDue(state, signal)
    const target = checkpoints.furthest(state.provedIndex)
    if (target === undefined) return false
    const plan = planRoot(state.provedIndex, target, pace.stepMs())
    const witness = witnessOf(database, plan)
    const proof = await proofOf(plan, witness, signal)
    if (proof === undefined) return true
    await submit(plan, witness.newRoot, proof, target, signal)
    pendingSince = undefined
    return true
  }

  function isRipe(provedIndex: number): boolean {
    const { size } = database.head()
    if (provedIndex >= size) {
      pendingSince = undefined
      return false
    }
    pendingSince ??= clock.now()
    const first = transfersBetween(
      database,
      provedIndex,
      Math.min(size, provedIndex + limits.leavesPerReservation),
    )
    const areMints = first.every(({ from }) => from === zeroAddress) && size - provedIndex === first.length
    return clock.now() - pendingSince >= (areMints ? mintGatherMs : gatherMs)
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

  /** Undefined when the proof is of no use any more. */
  async function proofOf(
    plan: RootPlan,
    { input, newRoot, newChain }: RootWitness,
    signal: AbortSignal,
  ): Promise<readonly bigint[] | undefined> {
    const { circuit, oldIndex, newIndex } = plan
    const key = `${circuit} ${oldIndex} ${newIndex} ${newRoot} ${newChain}`
    const known = proofs.get(key)
    if (known !== undefined) return known
    log({ event: 'root.proving', circuit, oldIndex, newIndex, pending: database.head().size - oldIndex })
    const startedAt = clock.now()
    const proof = await prove({ plan, newRoot, input }, signal)
    if (proof === undefined) return undefined
    const ms = clock.now() - startedAt
    log({ event: 'root.proved', circuit, newIndex, ms })
    pace.proved(circuit, ms)
    generatedIndex = newIndex
    proofs.set(key, proof)
    return proof
  }

  async function submit(
    plan: RootPlan,
    newRoot: bigint,
    proof: readonly bigint[],
    target: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { oldIndex, newIndex } = plan
    if (isOutrun(plan, await chain.verifierNow(), log)) return
    const startedAt = clock.now()
    const checkpoint = await checkpoints.nearest({ newIndex, oldIndex, known: target }, signal)
    const data = proveCall(database, { plan, newRoot, proof, checkpoint })
    const { transactionHash, cost } = await sender.send({ to: verifier, data }, signal)
    log({ event: 'root.submitted', newIndex, checkpoint, transaction: transactionHash, gasUsed: cost?.gas })
    pace.submitted(clock.now() - startedAt)
  }

  async function look(signal: AbortSignal): Promise<number> {
    try {
      const isMoved = await round(signal)
      failures = 0
      error = undefined
      return isMoved ? 0 : lookMs
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
      while (!signal.aborted) await clock.sleep(await look(signal), signal)
    },
    view: () => ({ generatedIndex, error }),
  }
}
