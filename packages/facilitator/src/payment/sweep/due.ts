/**
 * The rule for fees that a sweep may take. The treasury holds the provider's money, too, so that the provider's due
 * comes first:
 * - Only a payment that was accepted owes a fee. A burn that buys nothing is the provider's as a whole: late,
 *   unpresented, underpaid, or the larger part of a second one.
 * - A fee is due once its payment is finalized and at least its whole amount was minted. The fee is then part of the
 *   minted money, and the provider has the rest.
 * - A fee without a recipient is the splitter's matter.
 */
import type { Address, BaseUnits } from '@svc-zerc20/protocol'
import type { Accepted, Finalized, RecordedPayment } from '../records.js'

export type DueFee = { readonly recipient: Address; readonly amount: BaseUnits }

type Sweepable = Pick<RecordedPayment, 'challenge' | 'accepted' | 'finalized' | 'late' | 'swept'>

export function dueFeeOf(payment: Sweepable): DueFee | undefined {
  const { challenge, accepted, finalized } = payment
  const { fee, amount: whole } = challenge
  if (payment.swept || !accepted || !finalized || fee?.recipient === undefined) return undefined
  const { amount, recipient } = fee
  if (amount <= 0n || amount > whole || mintedFor(payment, accepted, finalized) < whole) return undefined
  return { recipient, amount }
}

/**
 * The verifier counts the minted amount of an address, and a payment is finalized when that count reached the value of
 * its burn. The mint itself may be smaller, because a part was minted before. Beside another burn to the same address
 * the count may stem from that one, so that only the mint itself counts.
 */
const mintedFor = ({ late }: Sweepable, { burn }: Accepted, { mint }: Finalized): bigint =>
  late ? mint.value : burn.value
