/** Every bound of mining and keeping addresses, named with its unit. */
export const limits = {
  /** Tries between two looks of a worker at its mailbox, and the most work a crash can lose. */
  sliceTries: 2048,
  /** A search fails after this many times the expected tries; by chance that happens once in e^64. */
  triesPerExpectedMax: 64,
  /** Crashed workers one task may outlive. */
  crashesPerTaskMax: 3,
  /** A thread without a task is ended after this time; the next task starts another. */
  threadRestMs: 10_000,
  /** Tasks that may wait for a free worker. */
  queuedTasksMax: 1024,
  /** Callers that may wait for an address at once. */
  waitersMax: 1024,
  /** Share of the pool that one caller may have down to the last address. */
  promisedShare: 0.125,
  /** A pool is refilled at once when this share of it is left, or this share of its unreserved part. */
  lowWaterShare: 0.5,
  /** Above the low-water mark, refilling waits until nobody asked for this long: mining must not slow down callers. */
  quietMs: 250,
  /** Pause of a refill after a failure, so that a broken miner cannot spin. */
  refillPauseMs: 1000,
} as const
