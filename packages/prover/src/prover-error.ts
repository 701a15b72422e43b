import { CodedError } from '@svc-zerc20/protocol'

export type ProverErrorCode =
  /** The inputs do not satisfy the circuit, or are not its inputs: the same call fails again. */
  | 'bad_input'
  /** The artifacts are missing, damaged or do not belong together: the same call fails again. */
  | 'bad_artifacts'
  /** The caller aborted through its signal. */
  | 'prove_cancelled'
  /** The process died or hung during this job. It is replaced, and the caller may try again. */
  | 'prover_crashed'
  | 'prover_queue_full'
  | 'prover_closed'

/** Why there is no proof. */
export class ProverError extends CodedError<ProverErrorCode> {
  override readonly name = 'ProverError'
}
