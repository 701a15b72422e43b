/** Makes a root proof, and watches the chain meanwhile. */
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

/** Whether another prover has already proved as much. */
export function isOutrun(
  { oldIndex, newIndex }: RootPlan,
  { provedIndex }: VerifierState,
  log: Log,
): boolean {
  if (provedIndex < newIndex) return false
  log({ event: 'root.outrun', oldIndex, newIndex, provedIndex })
  return true
}

/** Creates the proving. Reservations go on meanwhile. A changed tree or a faster prover ends the proof. */
export function createWatchedProof(deps: {
  prover: RootProver
  chain: Chain
  checkpoints: Checkpoints
  database: Database
  clock: Clock
  log: Log
  pollMs: number
}): WatchedProof {
  const { prover, chain, checkpoints, database, clock, log, pollMs } = deps

  async function watch(
    { plan, newRoot }: Task,
    { signal, done, giveUp }: { signal: AbortSignal; done: AbortSignal; giveUp: () => void },
  ): Promise<void> {
    const ending = AbortSignal.any([signal, done])
    for (;;) {
      await clock.sleep(pollMs, ending)
      if (ending.aborted) return
      try {
        const state = await chain.verifierNow()
        checkpoints.observe(state)
        if (isOutrun(plan, state, log) || database.head().size < plan.newIndex) return giveUp()
        if (database.rootAt(plan.newIndex) !== newRoot) return giveUp()
        // The end of the proof does not end this call: the next transaction waits until the reservation is
        // mined.
        await checkpoints.reserveIfDue(state, signal)
      } catch (failure) {
        // The proof goes on. A fault of the chain shows again when the proof is submitted.
        if (!ending.aborted)
          log({ event: 'root.failed', code: codeOf(failure), err: failure, retryMs: pollMs })
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
