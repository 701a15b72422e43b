/** Every bound of this package, named with its unit. */
export const limits = {
  /** Jobs that may wait for a free process. */
  queuedJobsMax: 1024,
  /** A process that has not answered a job for this long is replaced. */
  jobMsMax: 600_000,
  /** Pause after a process could not be started for lack of memory or file handles. */
  startPauseMs: 500,
  /** POSIX nice value of the processes, so that the request path on the same cores goes first. */
  processNiceness: 10,
  /** JavaScript heap of a process. Keys and tables are outside it. */
  processHeapMb: 256,
} as const
