/** Every bound of a statement and of what it rests on, with its unit. */
export const limits = {
  statementCharsMax: 65_536,
  disclosuresMax: 64,
  manifestCharsMax: 262_144,
  keysMax: 256,
  revocationsCharsMax: 4_194_304,
  revokedMax: 50_000,
  /** A file has a statement, a manifest and a list of revocations. */
  fileCharsMax: 4_718_592,
  /** Clocks may differ by this much. */
  clockSkewSeconds: 60,
  /** Names of issuers, keys, audiences and the like. */
  nameCharsMax: 256,
} as const
