/** Where a check begins to worry, with units. */
export const checkLimits = {
  /** Chain time ahead of ours: only a wrong clock explains it, so a few seconds are enough to say so. */
  clockBehindWarnSeconds: 5,
  /** Chain time behind ours: blocks take their time, and quiet chains make them only when there is work. */
  blockAgeWarnSeconds: 60,
  /** No challenge is so short that a smaller difference stops the daemon. */
  clockFailSecondsMin: 30,
  /** Calls in one round trip; a whole check has fewer. */
  callsPerBatchMax: 100,
  /** Verifiers before the present one; each is asked in a round trip of its own. */
  predecessorsMax: 16,
  /** Folders in a place where proving keys may be. */
  artifactFoldersMax: 32,
  indexerTimeoutMs: 3_000,
  /** The journal of a hundred thousand payments takes some 100 MB, and compaction writes it once more. */
  freeBytesWarn: 1024 ** 3,
  freeBytesFail: 16 * 1024 ** 2,
} as const
