/** One payload for one challenge. A second payload is made only when the first can no longer burn. */
import { type ChallengeNonce, Json, type Offer } from '@svc-zerc20/protocol'
import { type PayableOffer, readOffer } from '../offer.js'
import { PayerError } from '../payer-error.js'
import { type Guard, takenByAnother } from '../policy/guard.js'
import type { Permission, Way } from '../policy/permission.js'
import { type Bounds, targetOf } from '../policy/purchase.js'
import type { PaymentMemory, PaymentRecord } from '../state/payments.js'
import type { Deliveries } from './deliveries.js'

export type WirePayload = Readonly<Record<string, unknown>>

export function createMakePayload({
  pay,
  wayOf,
  guard,
  memory,
  deliveries,
}: {
  /**
   * Signs or burns for an offer. Called again only for a challenge whose burn is already on its way, or whose permit
   * was outrun by a payment with the same nonce.
   */
  readonly pay: (
    offer: PayableOffer,
    permission: Permission | undefined,
    outrunNonce: bigint | undefined,
  ) => Promise<WirePayload>
  readonly wayOf: (offer: PayableOffer) => Way
  readonly guard: Pick<Guard, 'permit' | 'abandoned'>
  readonly memory: PaymentMemory
  readonly deliveries: Pick<Deliveries, 'originOf'>
}): MakePayload {
  /** Takes the payment for this process alone, before anything is reserved or signed for it. */
  async function take(offer: PayableOffer, accepted: Offer.PaymentRequirements): Promise<PaymentRecord> {
    const { challengeNonce } = offer
    const { body: _, ...origin } = deliveries.originOf(challengeNonce) ?? {}
    const { isOurs, record } = await memory.hold(challengeNonce, (before) => {
      if (before?.payload) return before
      const first = before ?? { challengeNonce, accepted, resends: 0, ...origin }
      return { ...first, delivery: 'open' }
    })
    if (!isOurs || !record) throw takenByAnother(challengeNonce)
    checkUnchanged(record.accepted, accepted, challengeNonce)
    return record
  }

  async function askPermission(
    offer: PayableOffer,
    record: PaymentRecord,
    bounds: Bounds,
  ): Promise<Permission> {
    const { challengeNonce } = offer
    const { accepted } = record
    const origin = deliveries.originOf(challengeNonce)
    const { request, target } = origin ?? record
    const facts = { asked: targetOf(request), target, body: origin?.body }
    const permission = await guard.permit({ offer, accepted, way: wayOf(offer), ...facts, bounds })
    // The hold may have ended while a human thought.
    const kept = await memory.hold(challengeNonce, (before) => before)
    if (kept.isOurs && kept.record) return permission
    throw takenByAnother(challengeNonce)
  }

  /**
   * Stores the payload before anybody sees it. If another process stored one first, only that one is used.
   */
  async function store(challengeNonce: ChallengeNonce, payload: WirePayload): Promise<WirePayload> {
    const { isOurs, record } = await memory.hold(
      challengeNonce,
      (before) => before && { ...before, payload: before.payload ?? payload },
    )
    if (record?.payload) return record.payload
    throw isOurs
      ? new PayerError('state_unusable', `challenge ${challengeNonce} is gone`)
      : takenByAnother(challengeNonce)
  }

  /**
   * Ends a failed payment. Only its holder may do so, because another process may be about to sign for the
   * same challenge. The reservation ends before the record does, so that the next holder makes a new one.
   */
  async function giveUp(challengeNonce: ChallengeNonce, error: unknown): Promise<void> {
    const reverted = error instanceof PayerError && ['burn_reverted', 'burn_missed'].includes(error.code)
    const { isOurs, record } = await memory.hold(challengeNonce, (before) => {
      if (before?.outrunNonce !== undefined) return { ...before, delivery: 'refused' }
      if (before?.burn) return { ...before, delivery: reverted ? 'refused' : 'undelivered' }
      return before // nothing left this process
    })
    if (record && !(isOurs && isUnsigned(record))) return
    await guard.abandoned(challengeNonce)
    await memory.hold(challengeNonce, (before) => (before && isUnsigned(before) ? undefined : before))
  }

  const make: Make = async (offer, accepted, bounds) => {
    const { challengeNonce } = offer
    const known = await memory.get(challengeNonce)
    if (known) checkUnchanged(known.accepted, accepted, challengeNonce)
    if (known?.payload) return known.payload
    const record = await take(offer, accepted)
    if (record.payload) return record.payload
    try {
      // A signed transfer is only waited for. No permission is needed, and its offer may have expired
      // meanwhile.
      const permission = record.burn ? undefined : await askPermission(offer, record, bounds)
      const outrun = record.outrunNonce
      const payload = await pay(offer, permission, outrun === undefined ? undefined : BigInt(outrun))
      return await store(challengeNonce, payload)
    } catch (error) {
      await giveUp(challengeNonce, error)
      throw error
    }
  }

  return shareAmongCallers(memory, make)
}

/** Makes the payload of an offer, within the bounds of one request. */
export type MakePayload = (x402Version: number, requirements: unknown, bounds: Bounds) => Promise<WirePayload>

type Make = (offer: PayableOffer, accepted: Offer.PaymentRequirements, bounds: Bounds) => Promise<WirePayload>

/** Concurrent callers share one payment: two must never burn for one challenge. */
function shareAmongCallers(memory: PaymentMemory, make: Make): MakePayload {
  const underWay = underWayIn(memory)
  return async (x402Version, requirements, bounds) => {
    const offer = readOffer(x402Version, requirements)
    const { challengeNonce } = offer
    const running = underWay.get(challengeNonce)
    if (running) {
      checkUnchanged(running.accepted, requirements, challengeNonce)
      return running.made
    }
    const made = make(offer, requirements as Offer.PaymentRequirements, bounds)
    underWay.set(challengeNonce, { accepted: requirements, made })
    try {
      return await made
    } finally {
      underWay.delete(challengeNonce)
    }
  }
}

type UnderWay = Map<ChallengeNonce, { readonly accepted: unknown; readonly made: Promise<WirePayload> }>

const everyUnderWay = new WeakMap<PaymentMemory, UnderWay>()

/** The payments being made in this process for one memory, whichever scheme makes them. */
function underWayIn(memory: PaymentMemory): UnderWay {
  const known = everyUnderWay.get(memory)
  if (known) return known
  const fresh: UnderWay = new Map()
  everyUnderWay.set(memory, fresh)
  return fresh
}

/** Whether nothing that could move money was made for the payment. */
const isUnsigned = ({ payload, burn, outrunNonce }: PaymentRecord) =>
  payload === undefined && burn === undefined && outrunNonce === undefined

/** A challenge stands for one set of terms; a server that changes them under the same nonce gets nothing. */
function checkUnchanged(before: unknown, now: unknown, challengeNonce: ChallengeNonce): void {
  if (!Json.deepEqual(before, now)) throw new PayerError('offer_changed', `challenge ${challengeNonce}`)
}
