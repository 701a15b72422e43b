/** Shares and rates of callers from the configuration, by the key under which each caller is counted. */

import type { Config } from './config.js'
import { limits } from './limits.js'

/** The key of a seller. It cannot be mistaken for an address. */
export const sellerKey = (name: string): string => `seller:${name}`

/** Every seller with a token gets a reserved share, so that strangers cannot shut it out. */
export function reservedPercentOf({ sellers }: Config): ReadonlyMap<string, number> {
  const given = sellers.reduce((sum, { reserved_percent: part = 0 }) => sum + part, 0)
  const unset = sellers.filter(({ reserved_percent: part }) => part === undefined).length
  const forUnset = Math.min(limits.reservedUnsetPercentMax, 100 - given)
  const each = Math.min(limits.reservedUnsetPercent, forUnset / unset)
  return new Map(sellers.map(({ name, reserved_percent }) => [sellerKey(name), reserved_percent ?? each]))
}

/**
 * A seller's requests a minute. A seller serves many payers, so without rates of its own it gets a multiple of a
 * stranger's rates. A rate that is off for strangers is off for sellers too.
 */
export const sellerRatesOf = (
  { daemon }: Pick<Config, 'daemon'>,
  seller: Config['sellers'][number],
): { readonly ratePerMin: number; readonly issuancePerMin: number } => ({
  ratePerMin: seller.rate_limit_per_min ?? limits.sellerRateTimes * daemon.rate_limit_per_min,
  issuancePerMin:
    seller.challenge_per_key_per_min ?? limits.sellerRateTimes * daemon.challenge_per_key_per_min,
})

/** Challenges a minute that a caller may be issued. Infinite when the rate is off. */
export function issuancePerMinOf(config: Config): (key: string) => number {
  const own = new Map(
    config.sellers.map(
      (seller) => [sellerKey(seller.name), sellerRatesOf(config, seller).issuancePerMin] as const,
    ),
  )
  return (key) => {
    const rate = own.get(key) ?? config.daemon.challenge_per_key_per_min
    return rate <= 0 ? Number.POSITIVE_INFINITY : rate
  }
}
