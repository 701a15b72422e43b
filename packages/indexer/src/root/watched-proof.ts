/** A root proof in the making, and an eye on the chain meanwhile. */
import type { Clock } from '@svc-zerc20/protocol'
import type { CircuitInput, RootCircuit } from '@svc-zerc20/zk'
import type { Chain, VerifierState } from '../chain/chain.js'
import type { Log } from '../events.js'
import { codeOf } from '../failure.js'
import type { Database } from '../store/database.js'
import type { Checkpoints } from './checkpoints.js'
import type { RootPlan } from './root-plan.js'

/** Makes Groth16 proofs; `@svc-zerc20/prover` has one. */
export type RootProver = {
  prove(
    circuit: RootCircuit,
    input: CircuitInput,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly proof: readonly bigint[] }>
}

type Task = { readonly plan: RootPlan; readonly newRoot: bigint; readonly input: CircuitInput }

/** Resolves with the proof's words, or with undefined when the proof became useless and was given up. */
export type WatchedProof = (task: Task, signal: AbortSignal) => Promise<readonly bigint[] | undefined>

/** Whether somebody proved as much already. */
export function isOutrun(
  { oldIndex, newIndex }: RootPlan,
  { provedIndex }: VerifierState,
  log: Log,
): boolean {
  if (provedIndex < newIndex) return false
  log({ event: 'root.outrun', oldIndex, newIndex, provedIndex })
  return true
}

/** Creates the proving; reservations go on beside it, and a tree that changed or a faster prover ends it. */
export function createWatchedProof(deps: {
  prover: RootProver
  chain: Chain
  checkpoints: Checkpoints
  database: Database
  clock: Clock
  log: Log
  lookMs: number
}): WatchedProof {
  const { prover, chain, checkpoints, database, clock, log, lookMs } = deps

  async function watch(
    { plan, newRoot }: Task,
    { signal, done, giveUp }: { signal: AbortSignal; done: AbortSignal; giveUp: () => void },
  ): Promise<void> {
    const ending = AbortSignal.any([signal, done])
    for (;;) {
      await clock.sleep(lookMs, ending)
      if (ending.aborted) return
      try {
        const state = await chain.verifierNow()
        checkpoints.observe(state)
        if (isOutrun(plan, state, log) || database.head().size < plan.newIndex) return giveUp()
        if (database.rootAt(plan.newIndex) !== newRoot) return giveUp()
        // Not ended by the proof: the next transaction waits until this one is mined.
        await checkpoints.reserveIfDue(state, signal)
      } catch (failure) {
        // The proof goes on; what is wrong with the chain will be told when it is to be submitted.
        if (!ending.aborted)
          log({ event: 'root.failed', code: codeOf(failure), err: failure, retryMs: lookMs })
      }
    }
  }

  return async (task, signal) => {
    const giveUp = new AbortController()
    const done = new AbortController()
    const proving = prover.prove(task.plan.circuit, task.input, {
      signal: AbortSignal.any([signal, giveUp.signal]),
    })
    const watching = watch(task, { signal, done: done.signal, giveUp: () => giveUp.abort() })
    try {
      return (await proving).proof
    } catch (failure) {
      if (giveUp.signal.aborted) return undefined
      throw failure
    } finally {
      done.abort()
      await watching
    }
  }
}
