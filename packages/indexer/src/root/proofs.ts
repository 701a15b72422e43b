/**
 * Root proofs, as the job asks for them. Each is made once: it may be asked for ahead, and it is kept in case its
 * transaction has to be sent again.
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
  /** Begins a proof that is needed next. Should it fail, `of` tries it again. */
  ahead(plan: RootPlan, witness: RootWitness, signal: AbortSignal): void
  /** Resolves when no proof is being made. */
  done(): Promise<void>
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
  const making = new Map<string, Promise<readonly bigint[] | undefined>>()
  let lastIndex: number | undefined

  const keyOf = ({ circuit, oldIndex, newIndex }: RootPlan, { newRoot, newChain }: RootWitness) =>
    `${circuit} ${oldIndex} ${newIndex} ${newRoot} ${newChain}`

  async function make(plan: RootPlan, witness: RootWitness, signal: AbortSignal) {
    const { circuit, oldIndex, newIndex } = plan
    log({ event: 'root.proving', circuit, oldIndex, newIndex, pending: database.head().size - oldIndex })
    // Behind another one it waits for the prover, and its time says nothing of the circuit.
    const isAlone = making.size === 0
    const startedAt = clock.now()
    const proof = await prove({ plan, newRoot: witness.newRoot, input: witness.input }, signal)
    if (proof === undefined) return undefined
    const ms = clock.now() - startedAt
    log({ event: 'root.proved', circuit, newIndex, ms })
    if (isAlone) onProved(circuit, ms)
    lastIndex = newIndex
    kept.set(keyOf(plan, witness), proof)
    return proof
  }

  async function of(plan: RootPlan, witness: RootWitness, signal: AbortSignal) {
    const key = keyOf(plan, witness)
    const known = kept.get(key)
    if (known !== undefined) return known
    const proving = making.get(key) ?? make(plan, witness, signal).finally(() => making.delete(key))
    making.set(key, proving)
    return proving
  }

  return {
    of,
    ahead: (plan, witness, signal) => void of(plan, witness, signal).catch(() => undefined),
    async done() {
      await Promise.allSettled(making.values())
    },
    lastIndex: () => lastIndex,
  }
}
