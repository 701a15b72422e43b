/** Looks at the journal again and again, and writes it anew when it has grown. */

import { limits } from '../../limits.js'
import type { Clock } from '../../payment/ports.js'
import type { Log } from '../../telemetry/events.js'
import { giveBackMemory } from '../give-back-memory.js'
import type { OpenLedger } from '../open.js'
import { pauseAfter } from './compaction-due.js'

type Storage = Pick<OpenLedger, 'compact' | 'replay'>

/** The first look comes after a pause, because a start must not wait for it. */
export async function keepJournalShort(deps: {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}): Promise<void> {
  const { storage, clock, log, signal } = deps
  const pace = { lookMs: limits.compactionLookMs, backOffMaxMs: limits.compactionBackOffMaxMs }
  // The file of an earlier run is shortened once, however small it is.
  let bytesMin = storage.replay?.records ? 0 : limits.compactionBytesMin
  let pauseMs: number = pace.lookMs
  for (;;) {
    await clock.sleep(pauseMs, signal)
    if (signal.aborted) return
    const inVain = !(await compact(storage, bytesMin, log))
    pauseMs = pauseAfter(inVain, pauseMs, pace)
    bytesMin = limits.compactionBytesMin
  }
}

/** False when the look was in vain, and the next one should come later. */
async function compact(storage: Storage, bytesMin: number, log: Log): Promise<boolean> {
  try {
    const compaction = await storage.compact(bytesMin)
    if (typeof compaction === 'string') return compaction === 'nothing_to_gain'
    if (compaction.recordsBefore >= limits.replayedRecordsMany) giveBackMemory()
    log({ event: 'journal.compacted', ...compaction })
    return true
  } catch (err) {
    // The old file is as good, only longer.
    log({ event: 'journal.compaction_failed', err })
    return false
  }
}
