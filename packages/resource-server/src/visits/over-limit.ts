/** A request that came too often. `retryAfterSeconds` says when the next one has a chance. */
export class OverLimit extends Error {
  readonly retryAfterSeconds: number
  /** There was too much of this: requests, or payments that were refused. */
  readonly of: 'requests' | 'refused_payments'

  constructor(retryAfterSeconds: number, of: OverLimit['of'] = 'requests') {
    super(`over the limit for ${retryAfterSeconds} s`)
    this.name = 'OverLimit'
    this.retryAfterSeconds = retryAfterSeconds
    this.of = of
  }
}
