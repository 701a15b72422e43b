/** The ledger as the configuration wants it: behind a journal file, or in memory alone. */
import type { Challenge, Clock } from '../payment/ports.js'
import type { JournalStats } from './journal.js'
import { openJournal, type ReplayReport } from './journal-file.js'
import type { JournalFields } from './journal-line.js'
import { createLedger, type EventLog, type JournalledLedger, noEventLog } from './ledger.js'
import { fromFields, type LedgerEvent, toFields } from './ledger-event.js'
import { createLedgerState } from './ledger-state.js'

export type OpenLedger = {
  readonly ledger: JournalledLedger
  /** Absent without a journal. */
  readonly replay?: ReplayReport
  journalStats(): JournalStats | undefined
  close(): Promise<void>
}

export async function openLedger(deps: {
  /** A path, or `none`. */
  journal: string
  clock: Clock
  openMax: number
  expiredRetentionSeconds: number
  onJournalFailure: (err: unknown) => void
}): Promise<OpenLedger> {
  const { clock, openMax, expiredRetentionSeconds } = deps
  const state = createLedgerState()
  const create = (log: EventLog) => createLedger({ state, log, clock, openMax, expiredRetentionSeconds })
  if (deps.journal === 'none') {
    return { ledger: create(noEventLog), journalStats: () => undefined, close: async () => undefined }
  }
  const nowSeconds = clock.now() / 1000
  const isForgotten = ({ expiresAt }: Challenge) => expiresAt + expiredRetentionSeconds <= nowSeconds
  const { journal, replay, close } = await openJournal({
    path: deps.journal,
    onRecord: (fields) => state.apply(fromFields(fields)),
    compact: () => ({
      recordsMin: state.eventsMin(isForgotten),
      records: fieldsOf(state.events(isForgotten)),
    }),
    onFailure: deps.onJournalFailure,
  })
  const log: EventLog = {
    append: (event) => journal.append(toFields(event)),
    durable: () => journal.durable(),
  }
  return { ledger: create(log), replay, journalStats: () => journal.stats(), close }
}

function* fieldsOf(events: Iterable<LedgerEvent>): Iterable<JournalFields> {
  for (const event of events) yield toFields(event)
}
