/**
 * The one place that decides whether money may move. Library, command line and tools all come through here:
 * the host of every request is checked, and nothing is signed without the permission that only this file
 * grants.
 */
import { type Address, type ChallengeNonce, parseTxHash } from '@svc-zerc20/protocol'
import { unixSeconds } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import type { Outcome } from '../payment/outcome.js'
import { capsOf, judgeCaps } from '../totals/caps.js'
import { pairOf, type Reservation } from '../totals/spend-state.js'
import { assertPasses, refusalOf, type Verdict } from '../verdict.js'
import { type AskPorts, createAsk, factsOf } from './ask.js'
import { judgeApproval, judgeHost, judgeOffer, judgePermit } from './offer-rules.js'
import { grant, type Permission } from './permission.js'
import { type Purchase, reservationFor, routeOf } from './purchase.js'

export type Guard = {
  /** Throws `host_refused` before a request leaves for a host that is not allowed. */
  checkUrl(url: string): Promise<void>
  /** The verdict of every rule on a purchase, as of now. Reserves nothing and asks nobody. */
  judge(purchase: Purchase): Promise<readonly Verdict[]>
  /**
   * Judges, reserves, asks a human if one must be asked, and grants the permission to sign. Throws the
   * refusal. The caller must hold the payment: an existing reservation with the same terms becomes the
   * caller's.
   */
  permit(purchase: Purchase): Promise<Permission>
  /** Logs the hashes of everything that is about to be signed. */
  signing(challengeNonce: ChallengeNonce, hashes: Readonly<Record<string, string>>): Promise<void>
  /** Ends reservations whose burns the chain can rule out by now. */
  reconcile(): Promise<void>
  /**
   * Ends the reservation of a payment for which no signature has left this process or will leave it. A
   * reservation that another owner took over stays.
   */
  abandoned(permission: Permission): Promise<void>
  /**
   * Notes the end of a presentation. Only an accepted payment ends its reservation: a refused signature can
   * still be used.
   */
  ended(challengeNonce: ChallengeNonce, outcome: Outcome, facts: EndFacts): Promise<void>
}

export type EndFacts = { readonly status?: number | undefined; readonly transaction?: string | undefined }

export type GuardPorts = AskPorts & {
  /** Rejects with `offer_helper` a helper that would not be signed for. */
  readonly checkHelper: (helper: Address) => Promise<void>
  /** Ends reservations whose burns the chain can rule out by now. */
  readonly reconcile: () => Promise<void>
  readonly limits: Pick<PayerLimits, 'offerSecondsMax' | 'signatureSecondsMax'>
}

export function createGuard(ports: GuardPorts): Guard {
  const { totals, audit, reconcile } = ports
  const { checkUrl, judge } = createJudges(ports)

  return {
    checkUrl,
    judge,
    reconcile,
    permit: createPermit(ports),

    signing: (challengeNonce, hashes) => audit.append({ event: 'signing', challengeNonce, ...hashes }),

    async abandoned({ challengeNonce, owner }) {
      if (!(await totals.release(challengeNonce, owner))) return
      await audit.append({ event: 'released', challengeNonce, why: 'nothing was sent' })
    },

    async ended(challengeNonce, outcome, { status, transaction }) {
      const isServed = outcome === 'accepted' || outcome === 'delivered'
      // The seller wrote it. A text that is no hash could be anything, and would be shown to people and agents.
      const facts = { challengeNonce, outcome, status, transaction: parseTxHash(transaction) }
      if (outcome === 'accepted') {
        await totals.spend(challengeNonce)
        await audit.append({ event: 'paid', ...facts })
      }
      await audit.append({ event: isServed ? 'served' : 'unserved', ...facts })
    },
  }
}

/** Judges without effects, except for a line in the log when a host is refused. */
function createJudges(ports: GuardPorts): Pick<Guard, 'checkUrl' | 'judge'> {
  const { policy, totals, audit } = ports

  /**
   * The verdicts, with the one on the helper after a look at its code. Before signing, the code is checked in
   * any case.
   */
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

  return {
    async checkUrl(url) {
      const verdict = judgeHost(policy, url)
      if (verdict.passes === 'yes') return
      const { rule, limit, asked, code } = verdict
      await audit.append({ event: 'refused', rule, limit, asked, code })
      throw refusalOf(verdict)
    },

    async judge(purchase) {
      const { pair, host } = reservationOf(ports, purchase)
      const caps = judgeCaps(capsOf(policy), await totals.used(pair, host), purchase.offer.amount)
      const alone = await withHelperCode(purchase, judgeAlone(ports, purchase))
      return [...alone, ...caps, ...(await approvalVerdicts(ports, purchase))]
    },
  }
}

function createPermit(ports: GuardPorts): Guard['permit'] {
  const { policy, totals, audit } = ports
  const ask = createAsk(ports)

  async function refuse(
    challengeNonce: ChallengeNonce,
    reservation: Reservation,
    verdict: Verdict,
  ): Promise<never> {
    const { rule, limit, asked, code } = verdict
    await audit.append({
      event: 'refused',
      ...factsOf(challengeNonce, reservation),
      rule,
      limit,
      asked,
      code,
    })
    throw refusalOf(verdict)
  }

  async function reserve(challengeNonce: ChallengeNonce, reservation: Reservation): Promise<void> {
    const caps = capsOf(policy)
    let reserved = await totals.reserve(challengeNonce, reservation, caps)
    if ('refused' in reserved) {
      // The chain may show by now that some of the reserved money was not spent.
      await ports.reconcile()
      reserved = await totals.reserve(challengeNonce, reservation, caps)
    }
    if ('refused' in reserved) await refuse(challengeNonce, reservation, reserved.refused)
    else if (reserved.owner !== reservation.owner) throw takenByAnother(challengeNonce)
  }

  return async (purchase) => {
    const { challengeNonce } = purchase.offer
    const reservation = reservationOf(ports, purchase)
    const { terms, owner } = reservation
    const refused = judgeAlone(ports, purchase).find(({ passes }) => passes === 'no')
    if (refused) await refuse(challengeNonce, reservation, refused)
    const known = await totals.takeOver(challengeNonce, reservation)
    if (known && known.terms !== terms) throw takenByAnother(challengeNonce)
    // The permission was granted before, and the permit is signed again with another nonce. The money is the
    // same, so nobody is asked twice.
    if (known?.isGranted) return grant(challengeNonce, terms, owner)
    const why = (await approvalVerdicts(ports, purchase)).filter(({ passes }) => passes === 'ask')
    // A known reservation without a grant was left by a process that was killed while a human was asked.
    if (known === undefined) await reserve(challengeNonce, { ...reservation, isGranted: why.length === 0 })
    try {
      if (why.length > 0) {
        await ask(purchase, why, reservation)
        assertPasses(judgeAlone(ports, purchase)) // a human may have taken longer than the offer lives
        await totals.approve(challengeNonce)
      }
      await audit.append({ event: 'allowed', ...factsOf(challengeNonce, reservation), terms })
      return grant(challengeNonce, terms, owner)
    } catch (error) {
      await totals.release(challengeNonce, owner)
      throw error
    }
  }
}

/** The verdicts on one purchase alone, whatever was spent before. */
function judgeAlone({ policy, clock, limits }: GuardPorts, { offer, way, target }: Purchase): Verdict[] {
  const now = unixSeconds(clock)
  return [
    ...(target || policy.hosts !== 'any' ? [judgeHost(policy, target?.url ?? '')] : []),
    ...judgeOffer(offer, policy, now, limits.offerSecondsMax),
    ...(way === 'permit' ? judgePermit(offer, policy, now, limits.signatureSecondsMax) : []),
  ]
}

async function approvalVerdicts(
  { policy, totals }: GuardPorts,
  { offer, accepted, target }: Purchase,
): Promise<Verdict[]> {
  const before = await totals.price(pairOf(policy.network, offer.token), routeOf(target, accepted))
  return judgeApproval(policy, offer.amount, before)
}

const reservationOf = ({ payer, policy, clock }: GuardPorts, purchase: Purchase): Reservation =>
  reservationFor(purchase, { payer, network: policy.network, nowMs: clock.now() })

/** One challenge stands for one set of terms, paid by one process. */
export const takenByAnother = (challengeNonce: ChallengeNonce): PayerError =>
  new PayerError('offer_changed', `challenge ${challengeNonce} is being paid by another process, or was`)
