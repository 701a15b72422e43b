/** What the configuration says about callers, by the keys they are counted by. */
import type { Config } from './config.js'

/** A seller's key; no address looks like it. */
export const sellerKey = (name: string): string => `seller:${name}`

export const reservedPercentOf = ({ sellers }: Config): ReadonlyMap<string, number> =>
  new Map(sellers.map(({ name, reserved_percent }) => [sellerKey(name), reserved_percent]))

/** Challenges a caller may be issued in a minute; infinite when its rate is switched off. */
export function issuancePerMinOf({ sellers, daemon }: Config): (key: string) => number {
  const own = new Map(
    sellers.map(({ name, challenge_per_key_per_min: rate }) => [sellerKey(name), rate] as const),
  )
  return (key) => {
    const rate = own.get(key) ?? daemon.challenge_per_key_per_min
    return rate <= 0 ? Number.POSITIVE_INFINITY : rate
  }
}
