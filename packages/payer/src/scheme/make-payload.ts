/** One payload for one challenge; another one only when the first can no longer burn. */
import { type ChallengeNonce, Json, type Offer } from '@svc-zerc20/protocol'
import { type Clock, unixSeconds } from '../clock.js'
import type { Deliveries } from '../delivery/deliveries.js'
import type { PaymentMemory } from '../delivery/payment-memory.js'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { checkOffer, type OfferPins, type PayableOffer, readOffer } from './check-offer.js'

export type WirePayload = Readonly<Record<string, unknown>>

export function createMakePayload({
  pay,
  pins,
  memory,
  deliveries,
  clock,
  limits,
}: {
  /**
   * Signs or burns for an offer. Called again only for a challenge whose burn is already on its way, or whose permit
   * was outrun by a payment with the same nonce.
   */
  readonly pay: (offer: PayableOffer, outrunNonce: bigint | undefined) => Promise<WirePayload>
  readonly pins: OfferPins
  readonly memory: PaymentMemory
  readonly deliveries: Pick<Deliveries, 'originOf'>
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'offerSecondsMax'>
}): (x402Version: number, requirements: unknown) => Promise<WirePayload> {
  const underWay = new Map<
    ChallengeNonce,
    { readonly accepted: unknown; readonly made: Promise<WirePayload> }
  >()

  async function begin(offer: PayableOffer, accepted: Offer.PaymentRequirements): Promise<void> {
    checkOffer(offer, pins, unixSeconds(clock), limits.offerSecondsMax)
    const { challengeNonce } = offer
    const origin = deliveries.originOf(challengeNonce)
    await memory.update(
      challengeNonce,
      (before) => before ?? { challengeNonce, accepted, delivery: 'open', resends: 0, ...origin },
    )
  }

  async function make(offer: PayableOffer, accepted: Offer.PaymentRequirements): Promise<WirePayload> {
    const { challengeNonce } = offer
    const known = await memory.get(challengeNonce)
    if (known) checkUnchanged(known.accepted, accepted, challengeNonce)
    if (known?.payload) return known.payload
    // A transfer that was already signed is only waited for, so its offer may have expired meanwhile.
    if (!known?.burn) await begin(offer, accepted)
    try {
      const outrun = known?.outrunNonce
      const payload = await pay(offer, outrun === undefined ? undefined : BigInt(outrun))
      await memory.update(challengeNonce, (record) => record && { ...record, payload })
      return payload
    } catch (error) {
      await memory.update(challengeNonce, (record) => {
        if (record?.outrunNonce !== undefined) return { ...record, delivery: 'refused' }
        if (!record?.burn) return undefined // nothing left this process
        const reverted = error instanceof PayerError && error.code === 'burn_reverted'
        return { ...record, delivery: reverted ? 'refused' : 'undelivered' }
      })
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
