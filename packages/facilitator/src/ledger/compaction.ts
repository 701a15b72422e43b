/** Makes the journal of a ledger shorter while both are in use. */
import type { IssuedAddresses } from '../addresses/issued/addresses.js'
import type { Compaction } from './journal/compaction.js'
import type { OpenedJournal, Shorter } from './journal/file.js'
import { isWorthCompacting } from './journal/growth.js'
import type { JournalFields } from './journal/line.js'
import type { EventLedger } from './ledger.js'
import type { LedgerEvent } from './records/events.js'
import { toFields } from './records/line.js'
import type { LedgerState } from './state/state.js'
import type { LedgerSteps } from './steps.js'

/**
 * Leaves files below `bytesMin` alone. That there is nothing to gain is seen at once; that there is hardly any, only
 * when the state was looked at. Throws when the disk refuses.
 */
export type CompactLedger = (bytesMin: number) => Promise<Compaction | 'nothing_to_gain' | 'hardly_any'>

export function createCompactLedger(deps: {
  opened: OpenedJournal
  state: LedgerState
  ledger: Pick<EventLedger, 'forgetExpired'>
  steps: Pick<LedgerSteps, 'alone'>
  issued: Pick<IssuedAddresses, 'durable'> | undefined
}): CompactLedger {
  const { opened, state } = deps

  function held() {
    const { recordsHeld: records, bytes } = opened.journal.stats()
    return { records, bytes }
  }

  /** No step runs, so that the state and the file say the same. */
  function takeShorter(): Shorter | undefined {
    const { count, events, release } = state.shortest()
    if (!isWorthCompacting(held(), count, 0)) return undefined
    return { held: held(), records: fieldsOf(events()), release }
  }

  async function compact(bytesMin: number): ReturnType<CompactLedger> {
    deps.ledger.forgetExpired()
    if (!isWorthCompacting(held(), state.size(), bytesMin)) return 'nothing_to_gain'
    // What the journal is about to forget must be remembered elsewhere first.
    await deps.issued?.durable()
    const shorter = await deps.steps.alone(takeShorter)
    if (!shorter) return 'hardly_any'
    const compaction = await opened.compact(shorter)
    state.noteWrittenAnew()
    return compaction
  }

  let underWay: ReturnType<CompactLedger> | undefined
  return (bytesMin) => {
    underWay ??= compact(bytesMin).finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

export function* fieldsOf(events: Iterable<LedgerEvent>): Iterable<JournalFields> {
  for (const event of events) yield toFields(event)
}
