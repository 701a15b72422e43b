/** What the configuration says about callers, by the keys they are counted by. */
import { limits } from '../limits.js'
import type { Config } from './config.js'

/** A seller's key; no address looks like it. */
export const sellerKey = (name: string): string => `seller:${name}`

/** A token alone reserves something, too, or strangers could still shut its owner out. */
export function reservedPercentOf({ sellers }: Config): ReadonlyMap<string, number> {
  const given = sellers.reduce((sum, { reserved_percent: part = 0 }) => sum + part, 0)
  const unset = sellers.filter(({ reserved_percent: part }) => part === undefined).length
  const forUnset = Math.min(limits.reservedUnsetPercentMax, 100 - given)
  const each = Math.min(limits.reservedUnsetPercent, forUnset / unset)
  return new Map(sellers.map(({ name, reserved_percent }) => [sellerKey(name), reserved_percent ?? each]))
}

/**
 * What a seller may ask in a minute. Behind a seller there are many customers: without rates of its own it has many
 * times those of a stranger. A rate that is switched off for strangers stays so.
 */
export const sellerRatesOf = (
  { daemon }: Pick<Config, 'daemon'>,
  seller: Config['sellers'][number],
): { readonly ratePerMin: number; readonly issuancePerMin: number } => ({
  ratePerMin: seller.rate_limit_per_min ?? limits.sellerRateTimes * daemon.rate_limit_per_min,
  issuancePerMin:
    seller.challenge_per_key_per_min ?? limits.sellerRateTimes * daemon.challenge_per_key_per_min,
})

/** Challenges a caller may be issued in a minute; infinite when its rate is switched off. */
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
