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
  /** Share of the addresses that is in memory and not in the store: so many are lost when the process is killed. */
  handShare: 0.5,
  /** A pool is filled up at once when no more than this share of it is left, or of what is reserved for nobody. */
  lowWaterShare: 0.5,
  /** Otherwise when nobody asked for so long, so that the search does not slow down whoever is asking. */
  quietMs: 250,
  /** The hand is filled from the store when so little of it is left, and earlier while the pool is filled anyway. */
  drawShare: 0.125,
  drawShareFilling: 0.5,
  /** Mined addresses are saved together when they come within this time. */
  saveGatherMs: 500,
  /** Pause of a refill after a failure, so that a broken miner cannot spin. */
  refillPauseMs: 1000,
} as const
