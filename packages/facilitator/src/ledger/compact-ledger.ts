/** Makes the journal of a ledger shorter while both are in use. */
import type { IssuedAddresses } from '../addresses/issued/addresses.js'
import type { HistoryPort } from '../payment/history-port.js'
import { toFields } from './events/event-line.js'
import type { LedgerEvent } from './events/events.js'
import type { PlaceKeeper } from './history/place-keeper.js'
import type { Compaction } from './journal/compaction.js'
import { isWorthCompacting } from './journal/compaction-due.js'
import type { JournalFields } from './journal/line.js'
import type { OpenedJournal, Shorter } from './journal/open-journal.js'
import type { EventLedger } from './ledger.js'
import type { LedgerState } from './state/state.js'
import type { LedgerSteps } from './steps.js'

/**
 * Writes the journal anew, unless the file is below `bytesMin` or there is too little to gain. `nothing_to_gain` is seen
 * at once; `hardly_any` took a look at the whole state. Throws when the disk refuses.
 */
export type CompactLedger = (bytesMin: number) => Promise<Compaction | 'nothing_to_gain' | 'hardly_any'>

/** The history of the ledger, as far as it has come. */
export type KeptHistory = Pick<HistoryPort, 'durable' | 'isDurable'> &
  Pick<PlaceKeeper, 'keep'> & {
    /** Whether every payment of the journal was compared with the history. */
    isCaughtUp(): boolean
  }

export function createCompactLedger(deps: {
  opened: OpenedJournal
  state: LedgerState
  ledger: Pick<EventLedger, 'forgetExpired'>
  steps: Pick<LedgerSteps, 'alone'>
  issued: Pick<IssuedAddresses, 'durable'> | undefined
  history: KeptHistory | undefined
}): CompactLedger {
  const { opened, state, history } = deps

  function held() {
    const { recordsHeld: records, bytes } = opened.journal.stats()
    return { records, bytes }
  }

  /** Called while no step runs, so that the state and the file have the same content. */
  function takeShorter(): Shorter | undefined {
    if (history && !history.isDurable()) return undefined
    const { count, events, release } = state.shortest()
    if (!isWorthCompacting(held(), count, 0)) return undefined
    return { held: held(), records: fieldsOf(events()), release }
  }

  async function compact(bytesMin: number): ReturnType<CompactLedger> {
    deps.ledger.forgetExpired()
    if (!isWorthCompacting(held(), state.size(), bytesMin)) return 'nothing_to_gain'
    if (history && !history.isCaughtUp()) return 'nothing_to_gain'
    // The journal is about to forget addresses and turns of payments: they must be in their stores first.
    await deps.issued?.durable()
    await history?.durable()
    const shorter = await deps.steps.alone(takeShorter)
    if (!shorter) return 'hardly_any'
    const compaction = await opened.compact(shorter)
    state.noteWrittenAnew()
    await history?.keep()
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
