/** The history of a ledger with a journal: it catches up, and its place in the journal is kept. */
import type { HistoryPort, JournalPlace } from '../../payment/history-port.js'
import type { Clock } from '../../payment/ports.js'
import type { KeptHistory } from '../compact-ledger.js'
import type { LedgerState } from '../state/state.js'
import type { LedgerSteps } from '../steps.js'
import { type Behind, startCatchUp } from './catch-up.js'
import { createPlaceKeeper } from './place-keeper.js'

export type LedgerHistory = KeptHistory & { close(): Promise<void> }

/** Undefined without a history. Throws when the disk refuses what a start has to record. */
export async function openLedgerHistory(
  deps: {
    readonly history?: HistoryPort
    readonly clock: Clock
    readonly onHistoryCaughtUp?: (payments: number) => void
  },
  parts: {
    readonly state: LedgerState
    readonly steps: Pick<LedgerSteps, 'alone' | 'running'>
    readonly behind: Behind
    /** The journal's durable extent. */
    readonly place: () => JournalPlace
  },
): Promise<LedgerHistory | undefined> {
  const { history, clock, onHistoryCaughtUp = () => undefined } = deps
  if (!history) return undefined
  let keep = async () => {}
  const onEnd = (payments: number) => {
    onHistoryCaughtUp(payments)
    void keep()
  }
  const { state, steps, place } = parts
  const catchUp = await startCatchUp({ state, history, clock, onEnd }, parts.behind.judge(place()))
  const keeper = createPlaceKeeper({ history, steps, place, isCaughtUp: catchUp.isOver })
  keep = keeper.keep
  return {
    durable: () => history.durable(),
    isDurable: () => history.isDurable(),
    isCaughtUp: catchUp.isOver,
    keep,
    async close() {
      await catchUp.stop()
      await keeper.close()
    },
  }
}
