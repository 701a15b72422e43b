/** What a payment is listed under: for its participants, for the operator, and in the columns of the store. */
import type { Address, BaseUnits, UnixSeconds } from '@svc-zerc20/protocol'
import type { Payment } from './records.js'

type Listed = Pick<Payment, 'challenge' | 'accepted' | 'late'>

/** When its money came, and before that when it was issued. */
export const timeOf = ({ challenge, accepted, late }: Listed): UnixSeconds =>
  accepted?.at ?? late?.at ?? challenge.issuedAt

/** What came, and before that what was asked. */
export const amountOf = ({ challenge, accepted, late }: Listed): BaseUnits =>
  accepted?.burn.value ?? late?.burn.value ?? challenge.amount

/** The account whose tokens were burned. Undefined before a burn is known. */
export const payerOf = ({ accepted, late }: Pick<Payment, 'accepted' | 'late'>): Address | undefined =>
  accepted?.burn.from ?? late?.burn.from
