import type { ProverErrorCode } from './prover-error.js'

/** Circuit inputs by signal name. */
export type ProofInput = Readonly<Record<string, bigint | readonly bigint[]>>

/** A Groth16 proof as the eight words a contract takes, and the public signals it is for. */
export type Proof = {
  /** A.x, A.y, B.x.c1, B.x.c0, B.y.c1, B.y.c0, C.x, C.y */
  readonly proof: readonly bigint[]
  readonly signals: readonly bigint[]
}

/** What a proving process is told. */
export type Question =
  | { readonly kind: 'prove'; readonly id: number; readonly circuit: string; readonly input: ProofInput }
  | { readonly kind: 'warm'; readonly id: number; readonly circuit: string }
  | { readonly kind: 'cancel'; readonly id: number }

/** What it answers, once for every question that is not a cancellation. */
export type Answer =
  | { readonly kind: 'proved'; readonly id: number; readonly proof: Proof }
  | { readonly kind: 'warmed'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly code: ProverErrorCode; readonly message: string }
