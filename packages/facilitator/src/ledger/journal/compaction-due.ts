/** Decides when a journal holds so many superfluous records that it is written anew. Pure. */

/** The extent of a file. */
export type JournalExtent = { readonly records: number; readonly bytes: number }

/** The share of superfluous records from which a file is written anew: each record is then written five times at most. */
const superfluousShareMin = 0.2

/** Files below `bytesMin` are left alone. */
export function isWorthCompacting(file: JournalExtent, recordsMin: number, bytesMin: number): boolean {
  const superfluous = file.records - recordsMin
  return file.bytes >= bytesMin && superfluous > 0 && superfluous >= file.records * superfluousShareMin
}

export type CompactionPace = { readonly lookMs: number; readonly backOffMaxMs: number }

/**
 * The pause before the next look at a file. A look was in vain when the disk refused, or when a closer look found little
 * to gain. After each look in vain the pause doubles.
 */
export const pauseAfter = (inVain: boolean, pausedMs: number, pace: CompactionPace): number =>
  inVain ? Math.min(pausedMs * 2, pace.backOffMaxMs) : pace.lookMs
