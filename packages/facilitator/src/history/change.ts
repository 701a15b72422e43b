/** What records change: each payment that they speak of, before and after them. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { HistoryPayment } from './payment.js'
import { fold, type NumberedRecord, nonceIn } from './record.js'

/** A payment before and after some of its records. Without `before` the index has never held it. */
export type HistoryChange = { readonly before?: HistoryPayment; readonly after: HistoryPayment }

/** Payments as the index holds them. */
export type KnownPayments = ReadonlyMap<ChallengeNonce, HistoryPayment>

/** One change for every payment, however many of the records are its own. */
export function changesBy(records: readonly NumberedRecord[], known: KnownPayments): HistoryChange[] {
  const changed = new Map<ChallengeNonce, HistoryPayment>()
  for (const { seq, record } of records) {
    const nonce = nonceIn(record)
    changed.set(nonce, fold(changed.get(nonce) ?? known.get(nonce), record, seq))
  }
  return [...changed].map(([nonce, after]) => {
    const before = known.get(nonce)
    return { ...(before && { before }), after }
  })
}
