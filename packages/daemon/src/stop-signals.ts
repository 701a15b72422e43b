/** The signals by which a supervisor or a terminal asks a process to stop. */
const stopSignals = ['SIGTERM', 'SIGINT'] as const
type StopSignal = (typeof stopSignals)[number]

/**
 * `first` hears the first of these signals, `again` each one after it, whichever of the two they are. Without `again`
 * the second signal does what it does to any process: it ends it.
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
