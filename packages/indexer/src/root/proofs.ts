/**
 * Root proofs, as the job asks for them. Each is made once, and kept in case its transaction has to be sent
 * again.
 */
import { type Clock, createBoundedMap } from '@svc-zerc20/protocol'
import type { RootCircuit, RootWitness } from '@svc-zerc20/zk'
import type { Log } from '../events.js'
import { limits } from '../limits.js'
import type { Database } from '../store/database.js'
import type { RootPlan } from './root-plan.js'
import type { WatchedProof } from './watched-proof.js'

export type Proofs = {
  /** Undefined when the proof is no longer of use. */
  of(plan: RootPlan, witness: RootWitness, signal: AbortSignal): Promise<readonly bigint[] | undefined>
  /** Leaf count of the last root that was proved. */
  lastIndex(): number | undefined
}

export function createProofs(deps: {
  prove: WatchedProof
  database: Pick<Database, 'head'>
  clock: Pick<Clock, 'now'>
  log: Log
  /** Called with the time that a proof took. */
  onProved: (circuit: RootCircuit, ms: number) => void
}): Proofs {
  const { prove, database, clock, log, onProved } = deps
  const kept = createBoundedMap<string, readonly bigint[]>(limits.proofsKept)
  let lastIndex: number | undefined
  return {
    async of(plan, { input, newRoot, newChain }, signal) {
      const { circuit, oldIndex, newIndex } = plan
      const key = `${circuit} ${oldIndex} ${newIndex} ${newRoot} ${newChain}`
      const known = kept.get(key)
      if (known !== undefined) return known
      log({ event: 'root.proving', circuit, oldIndex, newIndex, pending: database.head().size - oldIndex })
      const startedAt = clock.now()
      const proof = await prove({ plan, newRoot, input }, signal)
      if (proof === undefined) return undefined
      const ms = clock.now() - startedAt
      log({ event: 'root.proved', circuit, newIndex, ms })
      onProved(circuit, ms)
      lastIndex = newIndex
      kept.set(key, proof)
      return proof
    },
    lastIndex: () => lastIndex,
  }
}
