/** Thrown when a client asks too often. After `retryAfterSeconds` its next request is allowed again. */
export class OverLimit extends Error {
  readonly retryAfterSeconds: number
  /** Which limit was reached. */
  readonly of: 'offers' | 'payments' | 'refused_payments'

  constructor(retryAfterSeconds: number, of: OverLimit['of']) {
    super(`over the limit for ${retryAfterSeconds} s`)
    this.name = 'OverLimit'
    this.retryAfterSeconds = retryAfterSeconds
    this.of = of
  }
}
