/**
 * Who may ask, and how often. A caller has one rate for its payments, and within it one for new challenges. Each challenge a
 * caller presents has its own small rate, so that one customer of a shop cannot use up the rate of the others. It
 * counts by caller, too: a relayed burn shows its challenge nonce to everybody, and a stranger who presents it must not
 * hold up the payment. All else that strangers may ask has rates of its own, so that none of it can stop payments.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { callerKey } from '@svc-zerc20/daemon'
import { accept, type Clock, type Result } from '@svc-zerc20/protocol'
import type { FastifyRequest } from 'fastify'
import { limits } from '../config/limits.js'
import type { ParticipantRole } from '../config/secrets/history.js'
import type { Payment } from '../payment/records.js'
import type { Log } from '../telemetry/events.js'
import type { Refusal } from './problem.js'
import { createRates, type RateRequest } from './rate-limit.js'

/** The caller that is counted by this key, everywhere. */
type Caller = { readonly key: string; readonly ratePerMin: number; readonly issuancePerMin: number }
export type Seller = Caller & { readonly tokenSha256: string }
/** A web page, the status of a payment, the OpenAPI document, or a path without a route. */
export type AsideKind = keyof typeof limits.asidePerMin
type Asking = Pick<FastifyRequest, 'ip' | 'headers'>

export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(deps: {
  readonly sellers: readonly Seller[]
  readonly strangers: Pick<Caller, 'ratePerMin' | 'issuancePerMin'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}) {
  const { strangers, clock } = deps
  const rates = createRates({ keysMax: limits.rateLimitKeysMax, clock })
  const sellers = deps.sellers.map((seller) => ({
    digest: Buffer.from(seller.tokenSha256, 'hex'),
    seller,
  }))

  /** Compares with every seller, so that the time taken tells neither which one matched nor how closely. */
  function sellerOf({ headers }: Asking): Caller | undefined {
    const token = bearerIn(headers.authorization)
    if (token === undefined) return undefined
    const given = createHash('sha256').update(token).digest()
    return sellers.filter(({ digest }) => timingSafeEqual(digest, given))[0]?.seller
  }

  /** An unknown token is no error: it may be meant for somebody else. */
  function callerOf(request: Asking): Caller {
    const seller = sellerOf(request)
    if (seller) return seller
    const key = callerKey(request.ip)
    if (bearerIn(request.headers.authorization) !== undefined) {
      deps.log({ event: 'seller.unknown_token', caller: key })
    }
    return { key, ...strangers }
  }

  const ofCaller = ({ key, ratePerMin }: Pick<Caller, 'key' | 'ratePerMin'>): RateRequest => ({
    rate: 'caller',
    key,
    perMinute: ratePerMin,
  })

  return {
    /** For a payment request that is about no payment of ours. */
    request: (request: Asking) => rates.take(ofCaller(callerOf(request))),
    /** For a new challenge. Gives the key of its caller. */
    issue(request: Asking): Result<string> | Refusal {
      const caller = callerOf(request)
      // A challenge beyond this rate leaves the other rate alone: payments under way need it.
      const ofIssue = { rate: 'issue', key: caller.key, perMinute: caller.issuancePerMin }
      return rates.take(ofIssue, ofCaller(caller)) ?? accept(caller.key)
    },
    /** For a payment that is presented, with what the ledger has of its challenge. */
    present(request: Asking, payment: Payment | undefined) {
      const caller = callerOf(request)
      if (!payment) return rates.take(ofCaller(caller))
      const ofChallenge = {
        rate: 'present',
        key: `${payment.challenge.nonce} ${caller.key}`,
        perMinute: caller.ratePerMin === 0 ? 0 : limits.presentedPerMin,
      }
      // Where somebody's money is under way, nothing else that the caller sent may stop it.
      return payment.claim ? rates.take(ofChallenge) : rates.take(ofChallenge, ofCaller(caller))
    },
    /** For a participant of the payment history, who is a caller by its identity token. */
    participant: (role: ParticipantRole) =>
      rates.take(ofCaller({ key: `participant:${role}`, ...strangers })),
    login: ({ ip }: Asking) =>
      rates.take({ rate: 'login', key: callerKey(ip), perMinute: limits.historyLoginsPerMin }),
    /** For a request that no payment waits for. */
    aside(request: Asking, kind: AsideKind) {
      const { key, ratePerMin } = callerOf(request)
      const perMinute = ratePerMin === 0 ? 0 : limits.asidePerMin[kind]
      return rates.take({ rate: kind, key, perMinute })
    },
    isSeller: (request: Asking) => sellerOf(request) !== undefined,
  }
}

/** The token of an `Authorization: Bearer …` header. */
export const bearerIn = (authorization: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
