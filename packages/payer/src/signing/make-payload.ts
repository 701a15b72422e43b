/** One payload for one challenge. A second payload is made only when the first can no longer burn. */
import { type ChallengeNonce, Json, type Offer, parseTxHash } from '@svc-zerc20/protocol'
import { type PayableOffer, readOffer } from '../offer.js'
import { afterSigning, PayerError } from '../payer-error.js'
import { type Guard, takenByAnother } from '../policy/guard.js'
import type { Permission, Way } from '../policy/permission.js'
import { type Bounds, targetOf } from '../policy/purchase.js'
import { isSigned, type PaymentMemory, type PaymentRecord } from '../state/payments.js'
import type { Burns } from './burns.js'
import { type Deliveries, type Origin, offeredElsewhere } from './deliveries.js'

export type WirePayload = Readonly<Record<string, unknown>>

/**
 * Rejects unless whatever the payment replaces can no longer burn once this seat is taken. Called with the seat of the transfer
 * that is about to be signed; a permit has none.
 */
export type CheckSeat = (seat?: string) => Promise<void>

export function createMakePayload({
  pay,
  wayOf,
  guard,
  memory,
  deliveries,
  verdictOf,
}: {
  /**
   * Signs or burns for an offer. Called again only for a challenge whose burn is already on its way, or whose permit
   * was outrun by a payment with the same nonce.
   */
  readonly pay: (
    offer: PayableOffer,
    permission: Permission | undefined,
    again: { readonly outrunNonce: bigint | undefined; readonly checkSeat: CheckSeat },
  ) => Promise<WirePayload>
  readonly wayOf: (offer: PayableOffer) => Way
  readonly guard: Pick<Guard, 'permit' | 'abandoned'>
  readonly memory: PaymentMemory
  readonly deliveries: Pick<Deliveries, 'originOf'>
  readonly verdictOf: Burns['verdictOf']
}): MakePayload {
  const { endWith, checkSeatFor } = createReplacing(memory, verdictOf)

  /** Takes the payment for this process alone, before anything is reserved or signed for it. */
  async function take(
    offer: PayableOffer,
    accepted: Offer.PaymentRequirements,
    origin: Origin | undefined,
  ): Promise<PaymentRecord> {
    const { challengeNonce } = offer
    const { body: _, instead, ...stored } = origin ?? {}
    const { isOurs, record } = await memory.hold(challengeNonce, (before) => {
      if (before?.payload) return before
      const isNew = before === undefined || !isSigned(before)
      const first = { challengeNonce, accepted, resends: 0, ...stored, ...(isNew && instead && { instead }) }
      return { ...first, ...before, delivery: 'open' }
    })
    if (!isOurs || !record) throw takenByAnother(challengeNonce)
    checkUnchanged(record.accepted, accepted, challengeNonce)
    if (record.instead) await endWith(record.instead, 'refused')
    return record
  }

  async function askPermission(
    offer: PayableOffer,
    record: PaymentRecord,
    origin: Origin | undefined,
    bounds: Bounds,
  ): Promise<Permission> {
    const { challengeNonce } = offer
    // The request in the record is the one that will be paid for, whatever is offered meanwhile.
    const { accepted, request, target } = record
    const facts = { asked: targetOf(request), target, body: origin?.body }
    const permission = await guard.permit({ offer, accepted, way: wayOf(offer), ...facts, bounds })
    // The hold may have ended while a human thought.
    const kept = await memory.hold(challengeNonce, (before) => before)
    if (kept.isOurs && kept.record) return permission
    throw takenByAnother(challengeNonce)
  }

  /**
   * Ends a failed payment. Only its holder may do so, because another process may be about to sign for the
   * same challenge. The reservation ends before the record does, so that the next holder makes a new one.
   */
  async function giveUp(challengeNonce: ChallengeNonce, error: unknown): Promise<void> {
    const isOver = error instanceof PayerError && ['burn_reverted', 'burn_missed'].includes(error.code)
    const { isOurs, record } = await memory.hold(challengeNonce, (before) => {
      if (!before || !isSigned(before)) return before // nothing left this process
      return { ...before, delivery: isOver && !before.instead ? 'refused' : 'undelivered' }
    })
    if (record && !(isOurs && !isSigned(record))) return
    if (record?.instead) await endWith(record.instead, 'undelivered')
    await guard.abandoned(challengeNonce)
    await memory.hold(challengeNonce, (before) => (before && !isSigned(before) ? undefined : before))
  }

  const make: Make = async (offer, accepted, bounds) => {
    const { challengeNonce } = offer
    const known = await memory.get(challengeNonce)
    const origin = deliveries.originOf(challengeNonce)
    if (known) checkUnchanged(known.accepted, accepted, challengeNonce)
    if (known?.request !== undefined && origin !== undefined && known.request !== origin.request) {
      throw offeredElsewhere(challengeNonce, known.request)
    }
    if (known?.payload) return known.payload
    const record = await take(offer, accepted, origin)
    if (record.payload) return record.payload
    let burn = record.burn?.hash
    try {
      // A signed transfer is only waited for. No permission is needed, and its offer may have expired
      // meanwhile.
      const permission = record.burn ? undefined : await askPermission(offer, record, origin, bounds)
      const outrun = record.outrunNonce
      const again = {
        outrunNonce: outrun === undefined ? undefined : BigInt(outrun),
        checkSeat: checkSeatFor(record),
      }
      const payload = await pay(offer, permission, again)
      burn = parseTxHash(payload.burnTxHash)
      return await store(memory, challengeNonce, payload)
    } catch (error) {
      // A folder that fails by now must not hide what failed first.
      await giveUp(challengeNonce, error).catch(() => undefined)
      throw burn || isSigned(record) ? afterSigning(error, `challenge ${challengeNonce}`, burn) : error
    }
  }

  return shareAmongCallers(memory, make)
}

/** Stores the payload before anybody sees it. If another process stored one first, only that one is used. */
async function store(
  memory: PaymentMemory,
  challengeNonce: ChallengeNonce,
  payload: WirePayload,
): Promise<WirePayload> {
  const { isOurs, record } = await memory.hold(
    challengeNonce,
    (before) => before && { ...before, payload: before.payload ?? payload },
  )
  if (record?.payload) return record.payload
  throw isOurs
    ? new PayerError('state_unusable', `challenge ${challengeNonce} is gone`)
    : new PayerError('payment_pending', `challenge ${challengeNonce} is being paid by another process`)
}

/** What a new payment does to the earlier one for the same request that it replaces. */
function createReplacing(memory: PaymentMemory, verdictOf: Burns['verdictOf']) {
  return {
    /** The payment that a new one replaces is found through the new one from now on, or by its request again. */
    endWith: (challengeNonce: ChallengeNonce, delivery: 'refused' | 'undelivered') =>
      memory.update(challengeNonce, (before) => before && { ...before, delivery }),

    /**
     * Refuses to sign where the payment that a new one replaces could burn beside it. The chain is asked right before each
     * signature, because meanwhile it may have gone on.
     */
    checkSeatFor:
      ({ instead }: PaymentRecord): CheckSeat =>
      async (seat) => {
        const before = instead && (await memory.get(instead))
        if (!before) return
        const verdict = await verdictOf(before)
        const isTaken = seat !== undefined && verdict.seat === seat
        if (isTaken || (verdict.state === 'absent' && !before.instead)) return
        throw mayStillBurn(before)
      },
  }
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
    for (let running = underWay.get(challengeNonce); running; running = underWay.get(challengeNonce)) {
      checkUnchanged(running.accepted, requirements, challengeNonce)
      try {
        return await running.made
      } catch (error) {
        // Only its own caller has left.
        if (!running.bounds.signal?.aborted) throw error
      }
    }
    const made = make(offer, requirements as Offer.PaymentRequirements, bounds)
    underWay.set(challengeNonce, { accepted: requirements, bounds, made })
    try {
      return await made
    } finally {
      underWay.delete(challengeNonce)
    }
  }
}

type UnderWay = Map<
  ChallengeNonce,
  { readonly accepted: unknown; readonly bounds: Bounds; readonly made: Promise<WirePayload> }
>

const everyUnderWay = new WeakMap<PaymentMemory, UnderWay>()

/** The payments being made in this process for one memory, whichever scheme makes them. */
function underWayIn(memory: PaymentMemory): UnderWay {
  const known = everyUnderWay.get(memory)
  if (known) return known
  const fresh: UnderWay = new Map()
  everyUnderWay.set(memory, fresh)
  return fresh
}

/** A payment bought nothing and may still burn, so nothing is signed beside it. */
export const mayStillBurn = ({ challengeNonce, burn }: PaymentRecord) =>
  new PayerError(
    'payment_pending',
    `challenge ${challengeNonce} bought nothing yet, and its burn may still come`,
    {
      burnTxHash: burn?.hash,
    },
  )

/** A challenge stands for one set of terms; a server that changes them under the same nonce gets nothing. */
function checkUnchanged(before: unknown, now: unknown, challengeNonce: ChallengeNonce): void {
  if (!Json.deepEqual(before, now)) throw new PayerError('offer_changed', `challenge ${challengeNonce}`)
}
