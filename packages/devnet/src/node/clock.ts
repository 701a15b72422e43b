/** Time as an argument, so that tests decide what the chain believes. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** The machine's own time: the one place of this package that reads it. */
export const systemClock: Clock = { now: () => Date.now() }
