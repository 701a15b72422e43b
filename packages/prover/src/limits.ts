/** Every bound of this package, named with its unit. */
export const limits = {
  /** Jobs that may wait for a free process. */
  queuedJobsMax: 1024,
  /** A process that is silent for this long after a job was given to it is replaced. */
  jobMsMax: 600_000,
  /** Pause after a process could not be started, because the machine lacks memory or handles. */
  startPauseMs: 500,
  /** Politeness of the processes towards whoever answers requests on the same cores (POSIX nice). */
  processNiceness: 10,
  /** Heap of a process for JavaScript objects; keys and tables are not in it. */
  processHeapMb: 256,
} as const
