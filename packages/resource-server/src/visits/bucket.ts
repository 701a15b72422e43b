/** A token bucket: holds one minute's worth and refills evenly. Taking more than is left makes `left` negative. */

export type Bucket = { readonly left: number; readonly atMs: number }

export const minuteMs = 60_000

/** The bucket after refilling up to now. An unknown bucket is full. */
export function filled(bucket: Bucket | undefined, perMinute: number, nowMs: number): Bucket {
  if (bucket === undefined) return { left: perMinute, atMs: nowMs }
  const gained = (Math.max(0, nowMs - bucket.atMs) * perMinute) / minuteMs
  return { left: Math.min(perMinute, bucket.left + gained), atMs: nowMs }
}

export const takenFrom = ({ left, atMs }: Bucket): Bucket => ({ left: left - 1, atMs })

/** Seconds until the bucket holds one; 0 when it does already. */
export function secondsUntilOne({ left }: Bucket, perMinute: number): number {
  return left >= 1 ? 0 : Math.max(1, Math.ceil(((1 - left) * 60) / perMinute))
}

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
