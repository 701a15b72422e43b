/** The time that root proofs take here, measured on the latest ones. */
import type { RootCircuit } from '@svc-zerc20/zk'
import type { StepMs } from './root-plan.js'

export type Pace = {
  proved(circuit: RootCircuit, ms: number): void
  submitted(ms: number): void
  /** Time of a proof and its transaction together. */
  stepMs(): StepMs
}

/** A large proof takes about as long as two small ones. This ratio is used until both were measured. */
const assumed = { 'root-16': 1, 'root-64': 2 } as const
const assumedUnitMs = 5_000

/** Creates a pace without measurements. */
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
