/** Thresholds and bounds of a check, with units. */
export const checkLimits = {
  /** Warn when chain time is ahead of ours by this much. Only a wrong clock explains it. */
  clockBehindWarnSeconds: 5,
  /** Warn when chain time is behind ours by this much. Larger, because slow or quiet chains mine seldom. */
  blockAgeWarnSeconds: 60,
  /** A difference below this never fails the check, however short the challenges are. */
  clockFailSecondsMin: 30,
  /** Calls in one round trip. A whole check makes fewer. */
  callsPerBatchMax: 100,
  /** Epochs that are searched for counts by others, the latest ones. Each costs about thirty round trips. */
  epochsMax: 32,
  /** Earlier verifiers that are followed. Each costs a round trip. */
  predecessorsMax: 16,
  /** Folders that are searched in one place for proving keys. */
  artifactFoldersMax: 32,
  indexerTimeoutMs: 3_000,
  /** Warn when the pool of addresses takes longer than this to fill. */
  poolFillWarnSeconds: 600,
  /** Tries of proof of work by which this machine is measured: in one call, and calls. Together about 100 ms. */
  poolTries: 512,
  poolSlices: 8,
  /** Longest life of an offer that payers sign for. */
  offerSecondsMax: 86_400,
  /** Warn below this much free disk. The database takes about 520 MB for 100 000 payments. */
  freeBytesWarn: 1024 ** 3,
  freeBytesFail: 16 * 1024 ** 2,
} as const
