/** When a journal holds so much more than its state takes that it is written anew. Pure. */

/** What a file holds. */
export type JournalExtent = { readonly records: number; readonly bytes: number }

/** A file is written anew when at least this share of its records can go: it is read and written five times at most. */
const superfluousShareMin = 0.2

/** Small files are left alone below `bytesMin`. */
export function isWorthCompacting(file: JournalExtent, recordsMin: number, bytesMin: number): boolean {
  const superfluous = file.records - recordsMin
  return file.bytes >= bytesMin && superfluous > 0 && superfluous >= file.records * superfluousShareMin
}

export type CompactionPace = { readonly lookMs: number; readonly backOffMaxMs: number }

/**
 * The pause before the next look at a file. A look that went in vain, because the disk refused or because a closer
 * look found little to gain, is taken again later each time.
 */
export const pauseAfter = (inVain: boolean, pausedMs: number, pace: CompactionPace): number =>
  inVain ? Math.min(pausedMs * 2, pace.backOffMaxMs) : pace.lookMs
