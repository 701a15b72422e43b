/**
 * An entry of a list is a key: the place of a payment, and behind it the facts that filters look at. Filters read the bytes
 * as they are, because a page may look at thousands of entries and takes a few of them.
 */
import type { HistoryFilter, HistoryScope } from '../books.js'
import {
  amountOf,
  type HistoryPayment,
  type HistoryPhase,
  payerOf,
  phaseOf,
  timeOf,
  toldFinalityAt,
} from '../payment.js'
import { amountKey, factsAt, keys, nonceIn, type Order, placeOf, timeBytes, timeKey } from './keys.js'

type Unminted = Exclude<HistoryPhase, 'finalized'>

const unmintedBytes: Readonly<Record<Unminted, number>> = { challenged: 1, accepted: 2, late: 3 }
const notFinalized = Buffer.alloc(timeBytes, 0xff)
/** Where each fact begins. The amount comes last. */
const facts = {
  unminted: 0,
  finalizedAt: 1,
  issuedAt: 1 + timeBytes,
  time: 1 + 2 * timeBytes,
  amount: 1 + 3 * timeBytes,
} as const

/** The phase without the mint. */
const unmintedOf = ({ accepted, late }: HistoryPayment): Unminted =>
  accepted ? 'accepted' : late ? 'late' : 'challenged'

const factsOf = (payment: HistoryPayment): Buffer =>
  Buffer.concat([
    Buffer.of(unmintedBytes[unmintedOf(payment)]),
    payment.finalized ? timeKey(payment.finalized.at) : notFinalized,
    timeKey(payment.challenge.issuedAt),
    timeKey(timeOf(payment)),
    amountKey(amountOf(payment)),
  ])

/** The key of the payment that an entry stands for. */
export const paymentKeyIn = (order: Order, entry: Buffer): Buffer =>
  keys.payment(entry.readUIntBE(factsAt(order, entry) + facts.issuedAt, timeBytes), nonceIn(order, entry))

/** Whether the filter takes an entry of a list of this order. */
export function takes(order: Order, filter: HistoryFilter): (entry: Buffer) => boolean {
  const { since = 0, until = Number.POSITIVE_INFINITY, amountMin, amountMax } = filter
  const isPhase = phaseTest(filter)
  const least = amountMin === undefined ? undefined : amountKey(amountMin)
  const most = amountMax === undefined ? undefined : amountKey(amountMax)
  return (entry) => {
    const at = factsAt(order, entry)
    const time = entry.readUIntBE(at + facts.time, timeBytes)
    if (time < since || time >= until) return false
    if (least && entry.compare(least, 0, least.length, at + facts.amount) < 0) return false
    if (most && entry.compare(most, 0, most.length, at + facts.amount) > 0) return false
    return isPhase(entry, at)
  }
}

function phaseTest({ phase, finalityBefore }: HistoryFilter) {
  if (phase === undefined) return () => true
  const isTold = (entry: Buffer, at: number) =>
    finalityBefore === undefined ||
    toldFinalityAt(
      entry.readUIntBE(at + facts.time, timeBytes),
      entry.readUIntBE(at + facts.finalizedAt, timeBytes),
    ) < finalityBefore
  const isFinalized = (entry: Buffer, at: number) =>
    entry[at + facts.finalizedAt] !== 0xff && isTold(entry, at)
  if (phase === 'finalized') return isFinalized
  return (entry: Buffer, at: number) => entry[at] === unmintedBytes[phase] && !isFinalized(entry, at)
}

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
export function entriesOf(payment: HistoryPayment): readonly Buffer[] {
  const { nonce } = payment.challenge
  const facts = factsOf(payment)
  const places = {
    time: placeOf.time(timeOf(payment), nonce),
    amount: placeOf.amount(amountOf(payment), nonce),
  }
  return scopesOf(payment).flatMap((scope) => {
    const phase = listedPhase(scope, payment)
    return (['time', 'amount'] as const).flatMap((order) => [
      keys.entry({ scope, order }, places[order], facts),
      keys.entry({ scope, order, phase }, places[order], facts),
    ])
  })
}
