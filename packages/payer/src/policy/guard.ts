/**
 * The one place where it is decided whether money may move. Library, command line and tools all come through here: every
 * request asks for its host, and nothing is signed without the permission that only this file grants.
 */
import { randomUUID } from 'node:crypto'
import type { Address, ChallengeNonce, Offer } from '@svc-zerc20/protocol'
import { type ApprovalRequest, type Approver, askHuman } from '../approval/approval.js'
import { type Clock, unixSeconds } from '../clock.js'
import type { Outcome } from '../delivery/outcome.js'
import type { Target } from '../delivery/redirects.js'
import type { PayerLimits } from '../limits.js'
import type { PayableOffer } from '../offer/payable-offer.js'
import { PayerError } from '../payer-error.js'
import type { AuditLog } from '../store/audit-log.js'
import { hourOf, pairOf, type Reservation } from '../totals/spend-state.js'
import type { Totals } from '../totals/totals.js'
import { capsOf, judgeCaps } from './cap-rules.js'
import { hostOf } from './hosts.js'
import { judgeApproval, judgeHost, judgeOffer, judgePermit } from './offer-rules.js'
import { grant, type Permission, termsHash, type Way } from './permission.js'
import type { Policy } from './policy.js'
import { assertPasses, refusalOf, type Verdict } from './verdict.js'

/** What is about to be bought, and by whose word. */
export type Purchase = {
  readonly offer: PayableOffer
  readonly accepted: Offer.PaymentRequirements
  readonly way: Way
  /** Where the offer was made; undefined beneath a client that does not tell. */
  readonly target: Target | undefined
}

export type Guard = {
  /** Throws `host_refused` before a request leaves for a host that is not allowed. */
  checkUrl(url: string): Promise<void>
  /** What every rule says about a purchase now. Reserves nothing and asks nobody. */
  judge(purchase: Purchase): Promise<readonly Verdict[]>
  /**
   * Judges, reserves, asks a human where one must be asked, and gives leave to sign. Throws what refused. The caller must
   * hold the payment: a reservation that exists already, with the same terms, becomes the caller's.
   */
  permit(purchase: Purchase): Promise<Permission>
  /** Notes what is about to be signed, by its hashes. */
  signing(challengeNonce: ChallengeNonce, hashes: Readonly<Record<string, string>>): Promise<void>
  /** Ends reservations whose burns the chain can rule out by now. */
  reconcile(): Promise<void>
  /** Nothing that was signed left this process, and nothing will: the reservation ends, unless another took it over. */
  abandoned(permission: Permission): Promise<void>
  /** A presentation ended. Only an accepted payment ends its reservation: a refused signature can still be used. */
  ended(challengeNonce: ChallengeNonce, outcome: Outcome, facts: EndFacts): Promise<void>
}

export type EndFacts = { readonly status?: number | undefined; readonly transaction?: string | undefined }

export type GuardPorts = {
  readonly policy: Policy
  readonly payer: Address
  readonly totals: Totals
  readonly audit: AuditLog
  /** Undefined where no human can be asked; what needs one is then refused. */
  readonly approver: Approver | undefined
  /** Rejects with `offer_helper` a helper that would not be signed for. */
  readonly checkHelper: (helper: Address) => Promise<void>
  /** An amount in tokens, as `1.5 USDC`, or undefined when the token does not tell. */
  readonly inTokens: (token: Address, amount: bigint) => Promise<string | undefined>
  /** Ends reservations whose burns the chain can rule out by now. */
  readonly reconcile: () => Promise<void>
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'offerSecondsMax' | 'signatureSecondsMax'>
}

export function createGuard(ports: GuardPorts): Guard {
  const { policy, payer, totals, audit, clock, limits } = ports

  /** What one purchase asks, without what was spent before. */
  function judgeAlone({ offer, way, target }: Purchase): Verdict[] {
    const now = unixSeconds(clock)
    return [
      ...(target || policy.hosts !== 'any' ? [judgeHost(policy, target?.url ?? '')] : []),
      ...judgeOffer(offer, policy, now, limits.offerSecondsMax),
      ...(way === 'permit' ? judgePermit(offer, policy, now, limits.signatureSecondsMax) : []),
    ]
  }

  /** The verdict about the helper, after a look at its code. Before signing that look is taken in any case. */
  async function withHelperCode({ offer: { helper } }: Purchase, verdicts: Verdict[]): Promise<Verdict[]> {
    const passes = (verdict: Verdict) => verdict.rule === 'helper' && verdict.passes === 'yes'
    if (helper === undefined || !verdicts.some(passes)) return verdicts
    const fault = await ports.checkHelper(helper).then(
      () => undefined,
      (error: PayerError) => error,
    )
    if (fault === undefined) return verdicts
    const isRefused = fault.code === 'offer_helper'
    const asked = isRefused ? fault.detail : `${helper}, whose code could not be read now`
    return verdicts.map((verdict) =>
      passes(verdict) ? { ...verdict, asked, passes: isRefused ? 'no' : 'yes' } : verdict,
    )
  }

  const reservationOf = ({ offer, way, target, accepted }: Purchase): Reservation => {
    const { token, payTo, amount, helper, expiresAt, deadline } = offer
    return {
      owner: randomUUID(),
      terms: termsHash(payer, way, offer),
      isGranted: false,
      isApproved: false,
      pair: pairOf(policy.network, token),
      host: (target && hostOf(target.url)?.hostname) ?? 'unknown',
      route: routeOf(target, accepted),
      amount: `${amount}`,
      hour: hourOf(clock.now()),
      ...{ way, token, payTo, helper, payer, expiresAt, deadline },
    }
  }

  const factsOf = (purchase: Purchase) => {
    const { host, route, amount, pair, way } = reservationOf(purchase)
    return { challengeNonce: purchase.offer.challengeNonce, host, route, amount, pair, way }
  }

  async function refuse(purchase: Purchase, verdict: Verdict): Promise<never> {
    const { rule, limit, asked, code } = verdict
    await audit.append({ event: 'refused', ...factsOf(purchase), rule, limit, asked, code })
    throw refusalOf(verdict)
  }

  async function reserve(purchase: Purchase, reservation: Reservation): Promise<void> {
    const { challengeNonce } = purchase.offer
    const caps = capsOf(policy)
    let reserved = await totals.reserve(challengeNonce, reservation, caps)
    if ('refused' in reserved) {
      // Some of what is reserved may be known by now to be unspent.
      await ports.reconcile()
      reserved = await totals.reserve(challengeNonce, reservation, caps)
    }
    if ('refused' in reserved) await refuse(purchase, reserved.refused)
    else if (reserved.owner !== reservation.owner) throw takenByAnother(challengeNonce)
  }

  async function approvalVerdicts({ offer, accepted, target }: Purchase): Promise<Verdict[]> {
    const before = await totals.price(pairOf(policy.network, offer.token), routeOf(target, accepted))
    return judgeApproval(policy, offer.amount, before)
  }

  async function ask(purchase: Purchase, why: readonly Verdict[], terms: string): Promise<void> {
    const { challengeNonce } = purchase.offer
    const request = await questionOf(purchase, why, terms)
    await audit.append({ event: 'approval_asked', ...factsOf(purchase), terms, why: request.why })
    const answer = ports.approver
      ? await askHuman(ports.approver, request, policy.approvalTimeoutMs, clock)
      : ('nobody' as const)
    if (answer === 'approved') {
      await audit.append({ event: 'approved', challengeNonce, terms })
      return
    }
    await audit.append({ event: 'not_approved', challengeNonce, terms, answer })
    throw new PayerError('not_approved', `${request.why}: ${answerWords[answer]}`)
  }

  async function questionOf(
    purchase: Purchase,
    why: readonly Verdict[],
    terms: string,
  ): Promise<ApprovalRequest> {
    const { offer, accepted, target } = purchase
    const { challengeNonce, token, amount } = offer
    const { host, pair } = reservationOf(purchase)
    const used = await totals.used(pair, host)
    const tokens = await ports.inTokens(token, amount).catch(() => undefined)
    const fee = accepted.extra.fee?.amount
    return {
      ...{ challengeNonce, terms, host, network: policy.network, token, payer },
      method: target?.method ?? 'unknown',
      path: target ? printable(new URL(target.url).pathname) : 'unknown',
      amount: `${amount}`,
      ...(tokens !== undefined && { tokens }),
      ...(fee !== undefined && { fee }),
      // The amount is reserved already, so that it is part of what is used.
      remaining: policy.maxTotal === undefined ? 'unlimited' : `${policy.maxTotal - used.total}`,
      why: why.map(({ rule, limit, asked }) => `rule ${rule}: asked ${asked}, allowed ${limit}`).join('; '),
      until: clock.now() + policy.approvalTimeoutMs,
    }
  }

  return {
    async checkUrl(url) {
      const verdict = judgeHost(policy, url)
      if (verdict.passes === 'yes') return
      const { rule, limit, asked, code } = verdict
      await audit.append({ event: 'refused', rule, limit, asked, code })
      throw refusalOf(verdict)
    },

    async judge(purchase) {
      const { pair, host } = reservationOf(purchase)
      const caps = judgeCaps(capsOf(policy), await totals.used(pair, host), purchase.offer.amount)
      const alone = await withHelperCode(purchase, judgeAlone(purchase))
      return [...alone, ...caps, ...(await approvalVerdicts(purchase))]
    },

    async permit(purchase) {
      const { challengeNonce } = purchase.offer
      const refused = judgeAlone(purchase).find(({ passes }) => passes === 'no')
      if (refused) await refuse(purchase, refused)
      const reservation = reservationOf(purchase)
      const { terms, owner } = reservation
      const known = await totals.takeOver(challengeNonce, reservation)
      if (known && known.terms !== terms) throw takenByAnother(challengeNonce)
      // Signed before, and to be signed again with another permit nonce: the same money, so nobody is asked twice.
      if (known?.isGranted) return grant(challengeNonce, terms, owner)
      const why = (await approvalVerdicts(purchase)).filter(({ passes }) => passes === 'ask')
      // A reservation without a grant is left by somebody who was killed while a human was asked.
      if (known === undefined) await reserve(purchase, { ...reservation, isGranted: why.length === 0 })
      try {
        if (why.length > 0) {
          await ask(purchase, why, terms)
          assertPasses(judgeAlone(purchase)) // a human may have taken longer than the offer lives
          await totals.approve(challengeNonce)
        }
        await audit.append({ event: 'allowed', ...factsOf(purchase), terms })
        return grant(challengeNonce, terms, owner)
      } catch (error) {
        await totals.release(challengeNonce, owner)
        throw error
      }
    },

    reconcile: ports.reconcile,

    signing: (challengeNonce, hashes) => audit.append({ event: 'signing', challengeNonce, ...hashes }),

    async abandoned({ challengeNonce, owner }) {
      if (!(await totals.release(challengeNonce, owner))) return
      await audit.append({ event: 'released', challengeNonce, why: 'nothing was sent' })
    },

    async ended(challengeNonce, outcome, { status, transaction }) {
      const isServed = outcome === 'accepted' || outcome === 'delivered'
      const facts = { challengeNonce, outcome, status, transaction }
      if (outcome === 'accepted') {
        await totals.spend(challengeNonce)
        await audit.append({ event: 'paid', ...facts })
      }
      await audit.append({ event: isServed ? 'served' : 'unserved', ...facts })
    },
  }
}

/** One challenge stands for one set of terms, paid by one process. */
export const takenByAnother = (challengeNonce: ChallengeNonce) =>
  new PayerError('offer_changed', `challenge ${challengeNonce} is being paid by another process, or was`)

const answerWords = {
  denied: 'the answer was no',
  silent: 'nobody answered in time',
  failed: 'nobody could be asked',
  nobody: 'there is nobody to ask',
} as const

/** What a price is remembered for: method, origin and path. A query is part of what varies. */
function routeOf(target: Target | undefined, accepted: Offer.PaymentRequirements): string {
  if (target === undefined) return `unknown ${accepted.asset}`
  const { origin, pathname } = new URL(target.url)
  return printable(`${target.method} ${origin}${pathname}`)
}

const routeCharsMax = 300

/** A stranger's words: short, and without characters that move a cursor. */
const printable = (text: string) => text.slice(0, routeCharsMax).replace(/[^\x20-\x7e]/g, '?')
