/** The payment history as the ledger needs it: told of every payment that changed, before anybody acts on the change. */
import type { RecordedPayment } from './books.js'

export type HistoryPort = {
  /** Throws `SvcError('journal_failed')` while the disk refuses: nothing should begin that could not be recorded. */
  assertRoom(): void
  /**
   * This payment changed. What the history lacks of it is recorded soon; what it has already is not recorded again.
   * `isOlder`: the payment comes from a journal that is older than the history, and takes nothing back.
   */
  note(payment: RecordedPayment, isOlder?: boolean): void
  /** Resolves when everything noted so far is on the disk; throws `SvcError('journal_failed')` while the disk refuses. */
  durable(): Promise<void>
  /** Whether everything noted so far is on the disk. */
  isDurable(): boolean
  /** The place in the journal up to which the history is known to be complete. Undefined in a new history. */
  completeUpTo(): JournalPlace | undefined
  setCompleteUpTo(place: JournalPlace): Promise<void>
}

/** A place in a journal: its id, how often it was written anew, and a number of records. */
export type JournalPlace = { readonly id: string; readonly generation: number; readonly records: number }
