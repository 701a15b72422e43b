import type { ProverErrorCode } from './prover-error.js'

/** Circuit inputs by signal name. */
export type ProofInput = Readonly<Record<string, bigint | readonly bigint[]>>

/** A Groth16 proof as the eight words that a contract takes, and its public signals. */
export type Proof = {
  /** A.x, A.y, B.x.c1, B.x.c0, B.y.c1, B.y.c0, C.x, C.y */
  readonly proof: readonly bigint[]
  readonly signals: readonly bigint[]
}

/** A message to a proving process. */
export type Question =
  | { readonly kind: 'prove'; readonly id: number; readonly circuit: string; readonly input: ProofInput }
  | { readonly kind: 'warm'; readonly id: number; readonly circuit: string }
  | { readonly kind: 'cancel'; readonly id: number }

/** An answer of a proving process: one for every question except a cancellation. */
export type Answer =
  | { readonly kind: 'proved'; readonly id: number; readonly proof: Proof }
  | { readonly kind: 'warmed'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly code: ProverErrorCode; readonly message: string }
