/** Bounds of the decider, of its server and of those who ask it. */
export const deciderLimits = {
  /** A witness of thirty burns is about two hundred thousand characters of text. */
  bodyBytesMax: 1024 * 1024,
  retryAfterSeconds: 5,
  connections: {
    headMs: 10_000,
    requestMs: 19_000,
    pollMs: 500,
    keptMs: 65_000,
    silentMs: 60_000,
    max: 256,
    areCallersTold: true,
    turnedAwayMax: 64,
    sentAwayMax: 512,
    turnedAwayMs: 2_000,
  },
  jobs: { jobsMax: 256, keptMs: 3_600_000 },
  /** Jobs that may wait beside those that are proved. */
  jobsWaitingMax: 32,
  /** The daemon's side: pause between two questions, time for one answer, and its size. */
  pollMs: 1_000,
  answerMs: 10_000,
  answerBytesMax: 64 * 1024,
  /** A decider that gives no usable answer for this long is left: it may have been restarted. */
  silentMs: 30_000,
  /** After this long the daemon proves by itself, even though the decider says that it is at work. */
  patienceMs: 300_000,
} as const
