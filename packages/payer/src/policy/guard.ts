/**
 * The one place that decides whether money may move. Library, command line and tools all come through here:
 * the host of every request is checked, and nothing is signed without the permission that only this file
 * grants. What it asks are the rules of `offer-rules.ts`, the cap of one payment among them, and the caps over several
 * payments in `state/capped-totals.ts`.
 */
import { randomUUID } from 'node:crypto'
import { type Address, type ChallengeNonce, type TxHash, unixSeconds } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { isServed, type Outcome } from '../outcome.js'
import { PayerError } from '../payer-error.js'
import { capsOf, judgeCaps, type Reserved } from '../state/capped-totals.js'
import { pairOf, type Reservation } from '../state/spend-state.js'
import { refusalOf, type Verdict } from '../verdict.js'
import { type AskPorts, createAsk, factsOf, type Yes } from './ask.js'
import { hostOf } from './hosts.js'
import { judgeApproval, judgeBounds, judgeHost, judgeOffer, judgePermit } from './offer-rules.js'
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
   * caller's, and is judged like a new one. A caller that gets no permission tells `abandoned`.
   */
  permit(purchase: Purchase): Promise<Permission>
  /**
   * Called right before each signature. Judges the purchase once more, as of now, and logs the hashes of
   * everything that is about to be signed. Throws the refusal, or the reason of a caller that has left.
   */
  signing(permission: Permission, hashes: Readonly<Record<string, string>>): Promise<void>
  /** Ends reservations whose burns the chain can rule out by now. */
  reconcile(): Promise<void>
  /**
   * Ends the reservation of a payment for which no signature ever left a process or will leave this one. A
   * reservation that another owner took over stays.
   */
  abandoned(challengeNonce: ChallengeNonce): Promise<void>
  /**
   * Notes the end of a presentation. A reservation ends as spent only for a burn that the chain has: a receipt is the
   * seller's word, and a signature can still be used.
   */
  ended(challengeNonce: ChallengeNonce, outcome: Outcome, facts: EndFacts): Promise<void>
}

export type EndFacts = {
  readonly status?: number | undefined
  /** The burn, if the chain has it. */
  readonly transaction?: TxHash | undefined
}

export type GuardPorts = AskPorts & {
  /** Rejects with `offer_helper` a helper that would not be signed for. */
  readonly checkHelper: (helper: Address) => Promise<void>
  /** Ends reservations whose burns the chain can rule out by now. */
  readonly reconcile: () => Promise<void>
  /** The addresses behind a hostname. None when they cannot be found out. */
  readonly addressesOf: (hostname: string) => Promise<readonly string[]>
  readonly limits: Pick<PayerLimits, 'offerSecondsMax' | 'signatureSecondsMax'>
}

export function createGuard(ports: GuardPorts): Guard {
  const { totals, audit, reconcile } = ports
  const { checkUrl, judge } = createJudges(ports)
  const owner = randomUUID()

  return {
    checkUrl,
    judge,
    reconcile,
    ...createPermit(ports, owner),

    async abandoned(challengeNonce) {
      if (!(await totals.release(challengeNonce, owner))) return
      await audit.append({ event: 'released', challengeNonce, why: 'nothing was sent' })
    },

    async ended(challengeNonce, outcome, { status, transaction }) {
      const facts = { challengeNonce, outcome, status, transaction }
      if (isServed(outcome) && transaction !== undefined) {
        await totals.spend(challengeNonce)
        await audit.append({ event: 'paid', ...facts })
      }
      await audit.append({ event: isServed(outcome) ? 'served' : 'unserved', ...facts })
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
      const { challengeNonce, amount } = purchase.offer
      const reservation = await reservationOf(ports, purchase, '')
      const caps = judgeCaps(
        capsOf(policy),
        await totals.used(reservation.pair, reservation, challengeNonce),
        amount,
      )
      const alone = await withHelperCode(purchase, judgeAlone(ports, purchase))
      return [...alone, ...caps, ...(await approvalVerdicts(ports, purchase))]
    },
  }
}

/** Grants permissions, and judges once more when a signature is made with one. */
function createPermit(ports: GuardPorts, owner: string): Pick<Guard, 'permit' | 'signing'> {
  const { policy, totals, audit } = ports
  const caps = capsOf(policy)
  const human = createAsk(ports)
  /** What was judged for each permission. A permission that is not in here was not granted here. */
  const granted = new WeakMap<Permission, Granted>()

  async function refuse(
    { offer: { challengeNonce } }: Purchase,
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

  async function assertAlone(purchase: Purchase, reservation: Reservation): Promise<void> {
    const refused = judgeAlone(ports, purchase).find(({ passes }) => passes === 'no')
    if (refused) await refuse(purchase, reservation, refused)
  }

  /** Runs a judgement of the totals. If a cap refuses, the chain may show that some reserved money was not spent. */
  async function assertFits(
    purchase: Purchase,
    reservation: Reservation,
    judged: () => Promise<Reserved>,
  ): Promise<void> {
    let reserved = await judged()
    if (typeof reserved === 'object') {
      await ports.reconcile()
      reserved = await judged()
    }
    if (reserved === 'taken') throw takenByAnother(purchase.offer.challengeNonce)
    if (reserved !== 'reserved') await refuse(purchase, reservation, reserved.refused)
  }

  return {
    async permit(purchase) {
      purchase.bounds.signal?.throwIfAborted()
      const { challengeNonce } = purchase.offer
      const reservation = await reservationOf(ports, purchase, owner)
      const { terms } = reservation
      const known = await totals.takeOver(challengeNonce, reservation)
      if (known && known.terms !== terms) throw takenByAnother(challengeNonce)
      await assertAlone(purchase, reservation)
      await assertFits(purchase, reservation, () => totals.reserve(challengeNonce, reservation, caps))
      const why = (await approvalVerdicts(ports, purchase)).filter(({ passes }) => passes === 'ask')
      const yes = why.length > 0 ? await human.approve(purchase, why, reservation) : undefined
      if (yes) await assertAlone(purchase, reservation) // a human may have taken longer than the offer lives
      await audit.append({ event: 'allowed', ...factsOf(challengeNonce, reservation), terms })
      const permission = grant(challengeNonce, terms)
      granted.set(permission, { purchase, reservation, yes })
      return permission
    },

    async signing(permission, hashes) {
      const { challengeNonce } = permission
      const leave = granted.get(permission)
      if (leave === undefined) throw takenByAnother(challengeNonce)
      const { purchase, reservation, yes } = leave
      await assertAlone(purchase, reservation)
      const tooOld = yes && human.judgeAge(yes)
      if (tooOld) await refuse(purchase, reservation, tooOld)
      await assertFits(purchase, reservation, () =>
        totals.sign(challengeNonce, reservation, caps, yes !== undefined),
      )
      // From here on nobody who leaves takes the signature back.
      purchase.bounds.signal?.throwIfAborted()
      purchase.bounds.onSigning?.()
      await audit.append({ event: 'signing', challengeNonce, ...hashes })
    },
  }
}

type Granted = {
  readonly purchase: Purchase
  readonly reservation: Reservation
  /** The yes of a human, where one was asked. */
  readonly yes: Yes | undefined
}

/** The verdicts on one purchase alone, whatever was spent before. */
function judgeAlone(
  { policy, clock, limits }: GuardPorts,
  { offer, way, target, bounds }: Purchase,
): Verdict[] {
  const now = unixSeconds(clock)
  return [
    ...(target || policy.allowedHosts !== 'any' ? [judgeHost(policy, target?.url ?? '')] : []),
    ...judgeBounds(offer, bounds),
    ...judgeOffer(offer, policy, now, limits.offerSecondsMax),
    ...(way === 'permit' ? judgePermit(offer, policy, now, limits.signatureSecondsMax) : []),
  ]
}

async function approvalVerdicts({ policy, totals }: GuardPorts, purchase: Purchase): Promise<Verdict[]> {
  const { offer } = purchase
  const before = await totals.price(pairOf(policy.network, offer.token), routeOf(purchase))
  return judgeApproval(policy, offer.amount, before)
}

async function reservationOf(
  { payer, policy, clock, addressesOf }: GuardPorts,
  purchase: Purchase,
  owner: string,
): Promise<Reservation> {
  const host = purchase.target && hostOf(purchase.target.url)
  const addresses = host ? await addressesOf(host.hostname) : []
  return reservationFor(purchase, {
    owner,
    payer,
    addresses,
    network: policy.network,
    nowMs: clock.now(),
  })
}

/** One challenge stands for one set of terms, paid by one process. */
export const takenByAnother = (challengeNonce: ChallengeNonce): PayerError =>
  new PayerError('offer_changed', `challenge ${challengeNonce} is being paid by another process, or was`)
