/** The signals by which a supervisor or a terminal asks a process to stop. */
const stopSignals = ['SIGTERM', 'SIGINT'] as const
type StopSignal = (typeof stopSignals)[number]

/**
 * Calls `first` on the first of these signals and `again` on each later one. Without `again`, the second signal ends the
 * process, as usual.
 */
export function onStopSignal(first: (signal: StopSignal) => void, again?: () => void): void {
  const hear = (signal: StopSignal) => {
    for (const each of stopSignals) {
      process.off(each, hear)
      if (again) process.on(each, again)
    }
    first(signal)
  }
  for (const each of stopSignals) process.on(each, hear)
}
