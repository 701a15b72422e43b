/** The payer's memory of payments, so that one challenge is never paid twice. */
import type { ChallengeNonce, Hex, Offer, TxHash } from '@svc-zerc20/protocol'
import { type Clock, unixSeconds } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'

/** Method and URL at which a request ended. The offer made there is paid there. */
export type Target = { readonly method: string; readonly url: string }

/** Method of a request that stands for a tool call. The name of the tool follows the # in its URL. */
export const toolCallMethod = 'CALL'

/**
 * - `open`: being made or being presented by someone right now
 * - `undelivered`: its last presentation ended without the resource; it may be presented again
 * - `delivered`: the resource came
 * - `refused`: the server will not take it, now or later
 */
export type DeliveryState = 'open' | 'undelivered' | 'delivered' | 'refused'

export type PaymentRecord = {
  readonly challengeNonce: ChallengeNonce
  /** The offer as it came, for the verbatim echo. */
  readonly accepted: Offer.PaymentRequirements
  readonly delivery: DeliveryState
  readonly resends: number
  /**
   * Self-transfer only. The transfer is stored before it is broadcast, so that only these bytes are ever
   * sent.
   */
  readonly burn?: { readonly hash: TxHash; readonly raw: Hex }
  /** The finished payload in its wire form. */
  readonly payload?: Readonly<Record<string, unknown>>
  /** The permit nonce of a payload that another payment outran; the next payload carries a higher one. */
  readonly outrunNonce?: string
  /** How often the permit was signed again. */
  readonly resigns?: number
  /** Method and URL of the request the offer answered, as the caller made it. */
  readonly request?: string
  /** Where the offer was made, after redirects: the only place the payment goes to. */
  readonly target?: Target
  /** The parts of a 402 that a paid request echoes beside the offer. */
  readonly echo?: { readonly resource?: unknown; readonly extensions?: unknown }
  /** The PAYMENT-SIGNATURE header as it was sent. */
  readonly header?: string
}

/** A payment after `hold`: with the caller's change, or as another holder has it. */
export type Held = { readonly isOurs: boolean; readonly record: PaymentRecord | undefined }

/** Store of payments. In a durable adapter, a change that was resolved must survive a crash. */
export type PaymentMemory = {
  get(challengeNonce: ChallengeNonce): Promise<PaymentRecord | undefined>
  /**
   * Atomic: no other change of this payment runs between reading and writing. Returning undefined drops the
   * record. Rejects with `memory_full` rather than forget a payment whose offer has not expired.
   */
  update(
    challengeNonce: ChallengeNonce,
    change: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
  ): Promise<PaymentRecord | undefined>
  /**
   * Like `update`, for one holder at a time. While another holder works on an open payment, nothing changes
   * and `isOurs` is false. Otherwise the caller becomes the holder, until the payment is no longer open, the
   * holder is gone, or the hold grew too old. Only the holder signs for a payment or gives it up.
   */
  hold(
    challengeNonce: ChallengeNonce,
    change: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
  ): Promise<Held>
  /**
   * Atomic: exactly one of several concurrent callers gets an undelivered payment, which is `open` from then
   * on.
   */
  claimUndelivered(request: string): Promise<PaymentRecord | undefined>
}

/** Memory that ends with the process. */
export function createPaymentMemory({
  clock,
  limits,
}: {
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'paymentsMax' | 'retentionSeconds'>
}): PaymentMemory {
  const records = new Map<ChallengeNonce, PaymentRecord>()

  const makeRoom = () => {
    if (records.size < limits.paymentsMax) return
    const now = unixSeconds(clock)
    for (const [nonce, { accepted }] of records) {
      if (accepted.extra.expiresAt + limits.retentionSeconds <= now) records.delete(nonce)
    }
    if (records.size >= limits.paymentsMax) {
      throw new PayerError('memory_full', `${records.size} payments are remembered`)
    }
  }

  const update: PaymentMemory['update'] = async (challengeNonce, change) => {
    const before = records.get(challengeNonce)
    const after = change(before)
    if (after === undefined) {
      records.delete(challengeNonce)
      return undefined
    }
    if (before === undefined) makeRoom()
    records.set(challengeNonce, after)
    return after
  }

  return {
    get: async (challengeNonce) => records.get(challengeNonce),
    update,
    // This memory belongs to one process, with one promise for each payment: there is no other holder.
    hold: async (challengeNonce, change) => ({ isOurs: true, record: await update(challengeNonce, change) }),
    async claimUndelivered(request) {
      for (const record of records.values()) {
        if (record.delivery !== 'undelivered' || record.request !== request) continue
        const claimed: PaymentRecord = { ...record, delivery: 'open' }
        records.set(record.challengeNonce, claimed)
        return claimed
      }
      return undefined
    },
  }
}
