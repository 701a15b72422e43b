/** Identifies callers: a seller by its token, anybody else by its address. Also holds the rates of each. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { callerKey } from '@svc-zerc20/daemon'
import type { FastifyRequest } from 'fastify'
import type { RateLimit, RateLimits } from './rate-limit.js'

export type Caller = {
  /** The caller is counted by this key, everywhere. */
  readonly key: string
  readonly rates: CallerRates
}

export type CallerRates = {
  /** Shared by challenge, verify and settle, as far as they name no challenge of ours. */
  readonly shared: RateLimit
  readonly issuance: RateLimit
  /** Refused payments for awaited challenges, all challenges together. */
  readonly known: RateLimit
  /** For challenges of ours without room of their own, or with none left. */
  readonly beyond: RateLimit
  /** Payments beyond the shared rate that name no challenge of ours: each costs a look into the ledger. */
  readonly misses: RateLimit
}

export type Seller = {
  readonly key: string
  readonly tokenSha256: string
  readonly ratePerMin: number
  readonly issuancePerMin: number
}

export type Callers = {
  of(request: Pick<FastifyRequest, 'ip' | 'headers'>): Caller
  isSeller(request: Pick<FastifyRequest, 'headers'>): boolean
}

export function createCallers(deps: {
  readonly sellers: readonly Seller[]
  readonly strangers: Pick<Seller, 'ratePerMin' | 'issuancePerMin'>
  /** Lowest rate for known challenges, so that a caller with a small rate can still finish what it began. */
  readonly knownPerMinMin: number
  /** Payments for unknown challenges that are looked up beyond the shared rate, as a multiple of the known rate. */
  readonly missesPerKnown: number
  readonly rateLimits: RateLimits
  /** Called when a token belongs to no seller. Its caller counts as a stranger. */
  readonly onUnknownToken: (key: string) => void
}): Callers {
  const { rateLimits } = deps
  const ratesOf = ({ ratePerMin, issuancePerMin }: Pick<Seller, 'ratePerMin' | 'issuancePerMin'>) => {
    const knownPerMin = ratePerMin === 0 ? 0 : Math.max(ratePerMin, deps.knownPerMinMin)
    return {
      shared: rateLimits('shared', ratePerMin),
      beyond: rateLimits('beyond', ratePerMin),
      issuance: rateLimits('issuance', issuancePerMin),
      known: rateLimits('known', knownPerMin),
      misses: rateLimits('misses', knownPerMin * deps.missesPerKnown),
    }
  }
  const strangers = ratesOf(deps.strangers)
  const sellers = deps.sellers.map((seller) => ({
    digest: Buffer.from(seller.tokenSha256, 'hex'),
    caller: { key: seller.key, rates: ratesOf(seller) },
  }))

  /** Compares with every seller, so that the time taken tells neither which one matched nor how closely. */
  function sellerWith(token: string | undefined): Caller | undefined {
    if (token === undefined) return undefined
    const given = createHash('sha256').update(token).digest()
    return sellers.filter(({ digest }) => timingSafeEqual(digest, given))[0]?.caller
  }

  return {
    of({ ip, headers }) {
      const token = bearerIn(headers.authorization)
      const seller = sellerWith(token)
      if (seller) return seller
      const key = callerKey(ip)
      if (token !== undefined) deps.onUnknownToken(key)
      return { key, rates: strangers }
    },
    isSeller: ({ headers }) => sellerWith(bearerIn(headers.authorization)) !== undefined,
  }
}

/** The token of an `Authorization: Bearer …` header. */
export const bearerIn = (authorization: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
