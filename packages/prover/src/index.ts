export type { Proof, ProofInput } from './message.js'
export { createProver, type Prover, type ProverOptions } from './prover.js'
export { ProverError, type ProverErrorCode } from './prover-error.js'
