/** One payload for one challenge; another one only when the first can no longer burn. */
import { type ChallengeNonce, Json, type Offer } from '@svc-zerc20/protocol'
import type { Deliveries } from '../delivery/deliveries.js'
import type { PaymentMemory } from '../delivery/payment-memory.js'
import { type PayableOffer, readOffer } from '../offer/payable-offer.js'
import { PayerError } from '../payer-error.js'
import type { Guard } from '../policy/guard.js'
import type { Permission, Way } from '../policy/permission.js'

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
}): (x402Version: number, requirements: unknown) => Promise<WirePayload> {
  const underWay = new Map<
    ChallengeNonce,
    { readonly accepted: unknown; readonly made: Promise<WirePayload> }
  >()

  /** Asks for leave, and stores the intent before anything is signed. */
  async function begin(offer: PayableOffer, accepted: Offer.PaymentRequirements): Promise<Permission> {
    const { challengeNonce } = offer
    const origin = deliveries.originOf(challengeNonce)
    const target = origin?.target ?? (await memory.get(challengeNonce))?.target
    const permission = await guard.permit({ offer, accepted, way: wayOf(offer), target })
    try {
      await memory.update(
        challengeNonce,
        (before) => before ?? { challengeNonce, accepted, delivery: 'open', resends: 0, ...origin },
      )
    } catch (error) {
      await guard.abandoned(challengeNonce)
      throw error
    }
    return permission
  }

  async function make(offer: PayableOffer, accepted: Offer.PaymentRequirements): Promise<WirePayload> {
    const { challengeNonce } = offer
    const known = await memory.get(challengeNonce)
    if (known) checkUnchanged(known.accepted, accepted, challengeNonce)
    if (known?.payload) return known.payload
    // A transfer that was already signed is only waited for, so its offer may have expired meanwhile.
    const permission = known?.burn ? undefined : await begin(offer, accepted)
    try {
      const outrun = known?.outrunNonce
      const payload = await pay(offer, permission, outrun === undefined ? undefined : BigInt(outrun))
      await memory.update(challengeNonce, (record) => record && { ...record, payload })
      return payload
    } catch (error) {
      const left = await memory.update(challengeNonce, (record) => {
        if (record?.outrunNonce !== undefined) return { ...record, delivery: 'refused' }
        if (!record?.burn) return undefined // nothing left this process
        const reverted = error instanceof PayerError && error.code === 'burn_reverted'
        return { ...record, delivery: reverted ? 'refused' : 'undelivered' }
      })
      if (left === undefined) await guard.abandoned(challengeNonce)
      throw error
    }
  }

  return async (x402Version, requirements) => {
    const offer = readOffer(x402Version, requirements)
    const { challengeNonce } = offer
    const running = underWay.get(challengeNonce)
    if (running) {
      // Callers at the same time share one payment: two must never burn for one challenge.
      checkUnchanged(running.accepted, requirements, challengeNonce)
      return running.made
    }
    const made = make(offer, requirements as Offer.PaymentRequirements)
    underWay.set(challengeNonce, { accepted: requirements, made })
    try {
      return await made
    } finally {
      underWay.delete(challengeNonce)
    }
  }
}

/** A challenge stands for one set of terms; a server that changes them under the same nonce gets nothing. */
function checkUnchanged(before: unknown, now: unknown, challengeNonce: ChallengeNonce): void {
  if (!Json.deepEqual(before, now)) throw new PayerError('offer_changed', `challenge ${challengeNonce}`)
}
