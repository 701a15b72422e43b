/** A bucket holds a minute's worth of something and is filled evenly. Whoever takes more than is left has a debt. */
export type Bucket = { readonly left: number; readonly atMs: number }

export const minuteMs = 60_000

/** The bucket as it is now. Nobody has taken from a bucket that is not known: it is full. */
export function filled(bucket: Bucket | undefined, perMinute: number, nowMs: number): Bucket {
  if (bucket === undefined) return { left: perMinute, atMs: nowMs }
  const gained = (Math.max(0, nowMs - bucket.atMs) * perMinute) / minuteMs
  return { left: Math.min(perMinute, bucket.left + gained), atMs: nowMs }
}

export const takenFrom = ({ left, atMs }: Bucket): Bucket => ({ left: left - 1, atMs })

/** 0 when there is one to take. */
export function secondsUntilOne({ left }: Bucket, perMinute: number): number {
  return left >= 1 ? 0 : Math.max(1, Math.ceil(((1 - left) * 60) / perMinute))
}
