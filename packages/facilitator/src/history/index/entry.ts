/** An entry of a list: what filters look at, so that a payment is read only when it is taken. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { HistoryFilter, HistoryScope } from '../books.js'
import { amountOf, type HistoryPayment, type HistoryPhase, payerOf, phaseOf, timeOf } from '../payment.js'
import { amountAt, amountKey, keys, type Order, placeOf } from './keys.js'

export type Entry = {
  /** The phase without the mint. */
  readonly unminted: Exclude<HistoryPhase, 'finalized'>
  readonly finalizedAt?: number
  readonly time: number
  readonly amount: bigint
}

const phases = ['challenged', 'accepted', 'late'] as const
const notFinalized = 2n ** 64n - 1n
const timeAt = 9
const amountBegin = 17

const unmintedOf = ({ accepted, late }: HistoryPayment): Entry['unminted'] =>
  accepted ? 'accepted' : late ? 'late' : 'challenged'

function writeEntry(payment: HistoryPayment): Buffer {
  const head = Buffer.alloc(amountBegin)
  head.writeUInt8(phases.indexOf(unmintedOf(payment)))
  head.writeBigUInt64BE(payment.finalized ? BigInt(payment.finalized.at) : notFinalized, 1)
  head.writeBigUInt64BE(BigInt(timeOf(payment)), timeAt)
  return Buffer.concat([head, amountKey(amountOf(payment))])
}

export function readEntry(value: Buffer): Entry {
  const finalizedAt = value.readBigUInt64BE(1)
  return {
    unminted: phases[value.readUInt8()] ?? 'challenged',
    ...(finalizedAt !== notFinalized && { finalizedAt: Number(finalizedAt) }),
    time: Number(value.readBigUInt64BE(timeAt)),
    amount: amountAt(value, amountBegin).amount,
  }
}

export const isTaken = (entry: Entry, filter: HistoryFilter): boolean =>
  entry.time >= (filter.since ?? 0) &&
  entry.time < (filter.until ?? Number.POSITIVE_INFINITY) &&
  entry.amount >= (filter.amountMin ?? 0n) &&
  (filter.amountMax === undefined || entry.amount <= filter.amountMax) &&
  (filter.phase === undefined || filter.phase === phaseAt(entry, filter.finalityBefore))

const phaseAt = ({ unminted, finalizedAt }: Entry, before = Number.POSITIVE_INFINITY): HistoryPhase =>
  finalizedAt !== undefined && finalizedAt < before ? 'finalized' : unminted

/** The scopes that a payment belongs to. It has no payer before a burn is known. */
export function scopesOf(payment: HistoryPayment): readonly HistoryScope[] {
  const payer = payerOf(payment)
  return [
    { kind: 'treasury', treasury: payment.challenge.treasury },
    ...(payer ? [{ kind: 'payer', payer } as const] : []),
  ]
}

/**
 * The phase that a payment is listed under. A payer learns of finality later than it is recorded, so a payer's lists do
 * not know it: what is read for a payer's page would otherwise tell it.
 */
const listedPhase = (scope: HistoryScope, payment: HistoryPayment): HistoryPhase =>
  scope.kind === 'payer' ? unmintedOf(payment) : phaseOf(payment)

/** The phase whose list has everything that the filter takes; undefined where only the list of all phases does. */
export function phaseToRead({ scope, phase, finalityBefore }: HistoryFilter): HistoryPhase | undefined {
  if (phase === 'challenged') return phase
  const isListed = scope.kind === 'payer' ? phase !== 'finalized' : finalityBefore === undefined
  return isListed ? phase : undefined
}

/** All entries of a payment: in every scope, in every order, with and without its phase. */
export function entriesOf(
  payment: HistoryPayment,
): readonly { readonly key: Buffer; readonly value: Buffer }[] {
  const { nonce } = payment.challenge
  const value = writeEntry(payment)
  return scopesOf(payment).flatMap((scope) =>
    (['time', 'amount'] as const).flatMap((order) => {
      const place = placeIn(payment, order, nonce)
      const phase = listedPhase(scope, payment)
      return [
        { key: keys.entry({ scope, order }, place), value },
        { key: keys.entry({ scope, order, phase }, place), value },
      ]
    }),
  )
}

const placeIn = (payment: HistoryPayment, order: Order, nonce: ChallengeNonce) =>
  order === 'time' ? placeOf.time(timeOf(payment), nonce) : placeOf.amount(amountOf(payment), nonce)
