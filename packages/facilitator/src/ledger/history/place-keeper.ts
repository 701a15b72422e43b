/** Tells the history now and then how far it is complete, so that the next start compares only what came since. */
import type { HistoryPort, JournalPlace } from '../../payment/history-port.js'
import type { LedgerSteps } from '../steps.js'

export type PlaceKeeper = {
  /** Tells the place of this moment. Nothing happens while the history lacks something. Never throws. */
  keep(): Promise<void>
  close(): Promise<void>
}

const keepEveryMs = 10_000

export function createPlaceKeeper(deps: {
  readonly history: Pick<HistoryPort, 'isDurable' | 'setCompleteUpTo'>
  readonly steps: Pick<LedgerSteps, 'alone' | 'running'>
  /** The journal's durable extent. */
  readonly place: () => JournalPlace
  /** Whether the history has caught up with the journal. */
  readonly isCaughtUp: () => boolean
}): PlaceKeeper {
  let kept = ''
  let keeping: Promise<void> = Promise.resolve()
  let isClosed = false

  /** Called while no step runs: every record of the journal is then noted. */
  const completePlace = () => (deps.isCaughtUp() && deps.history.isDurable() ? deps.place() : undefined)

  async function write(place: JournalPlace | undefined): Promise<void> {
    const name = JSON.stringify(place)
    if (!place || name === kept) return
    // A failure is passed over: a place that lags behind still serves, and the next one comes soon.
    await deps.history.setCompleteUpTo(place).then(
      () => {
        kept = name
      },
      () => undefined,
    )
  }

  function keep(): Promise<void> {
    if (isClosed || !deps.isCaughtUp() || JSON.stringify(deps.place()) === kept) return keeping
    keeping = keeping.then(async () => write(await deps.steps.alone(completePlace)))
    return keeping
  }

  const timer = setInterval(() => void keep(), keepEveryMs).unref()
  return {
    keep,
    async close() {
      clearInterval(timer)
      isClosed = true
      await keeping
      // A step that hangs must not keep the daemon from ending.
      if (deps.steps.running() === 0) await write(completePlace())
    },
  }
}
