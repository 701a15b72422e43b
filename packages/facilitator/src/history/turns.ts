/** The turns of a payment that a history tells, by the event that makes them. */
import type { EventName } from '../store/events.js'
import type { RecordKind } from './payment.js'

export const kindOf: Partial<Record<EventName, RecordKind>> = {
  challenge_issued: 'challenged',
  payment_accepted: 'accepted',
  payment_demoted: 'demoted',
  burn_moved: 'moved',
  payment_finalized: 'finalized',
  burn_late: 'late',
  burn_unmatched: 'unmatched',
  payment_disclosed: 'disclosed',
}
