/** How long root proofs take here, from those that were made lately. */
import type { RootCircuit } from '@svc-zerc20/zk'
import type { StepMs } from './root-plan.js'

export type Pace = {
  proved(circuit: RootCircuit, ms: number): void
  submitted(ms: number): void
  /** Proof and transaction together. */
  stepMs(): StepMs
}

/** A large proof takes about as long as two small ones; that is all there is to know before both were made. */
const assumed = { 'root-16': 1, 'root-64': 2 } as const
const assumedUnitMs = 5_000

/** Creates a pace that nothing was measured for. */
export function createPace(): Pace {
  const proofMs: Partial<Record<RootCircuit, number>> = {}
  let transactionMs = 0

  const lately = (before: number | undefined, now: number) =>
    before === undefined ? now : (before + now) / 2

  function estimate(circuit: RootCircuit, other: RootCircuit): number {
    const known = proofMs[circuit]
    if (known !== undefined) return known
    const unitMs = (proofMs[other] ?? assumedUnitMs * assumed[other]) / assumed[other]
    return unitMs * assumed[circuit]
  }

  return {
    proved(circuit, ms) {
      proofMs[circuit] = lately(proofMs[circuit], ms)
    },
    submitted(ms) {
      transactionMs = lately(transactionMs, ms)
    },
    stepMs: () => ({
      'root-16': estimate('root-16', 'root-64') + transactionMs,
      'root-64': estimate('root-64', 'root-16') + transactionMs,
    }),
  }
}
