/** Every bound of the indexer that is not an option, with its unit. */
export const limits = {
  /** A full span of logs of a busy token stays far below these bytes. */
  rpc: { timeoutMs: 20_000, answerBytesMax: 64 * 1024 * 1024 },
  /** Blocks in one request for logs; halved when the node refuses, down to one. */
  spanBlocks: 5_000,
  /** Transfers written together; a block is never split. */
  transfersPerCommit: 32,
  /** Leaves hashed before the event loop gets its turn. */
  leavesPerSlice: 16,
  /** Stored blocks compared with the chain in one round trip while looking for the last common one. */
  blocksPerWalkStep: 64,
  /** Longest pause between two tries while the chain fails. */
  backoffMaxMs: 30_000,
  /** Leaves after which another hash chain is reserved: the largest subtree of a root proof. */
  leavesPerReservation: 64,
  /** Reserved leaf counts asked for in one round trip, and remembered. */
  checkpointsPerCall: 65,
  checkpointsSeenMax: 4_096,
  /** Transfers in the call data of one transaction: some 4 million gas. */
  transfersPerCallMax: 1_024,
  /** Root proofs made at once, on half of the cores at most. More are made only when the proved root is far behind. */
  proofsAtOnceMax: 4,
  /** Finished proofs kept, in case their transaction has to be sent again. */
  proofsKept: 8,
  /** Longest pause between two looks of the root job at the verifier. */
  rootPollMs: 500,
  /** First and longest pause after a failure of the root job. */
  rootBackoffMs: 1_000,
  rootBackoffMaxMs: 60_000,
  receiptPollMs: 200,
  /** A transaction unmined for this long is replaced by one with a higher fee. */
  priceBumpAfterMs: 15_000,
  priceBumpsMax: 10,
  priceBumpPercent: 25n,
  /** A request of this API is small; anything larger is abuse. */
  bodyBytesMax: 16_384,
  /** Within 20 s a request is complete or its connection is closed, the pause between two looks included. */
  connections: {
    headMs: 10_000,
    requestMs: 19_000,
    pollMs: 500,
    keptMs: 72_000,
    silentMs: 60_000,
    max: 1_024,
    areCallersTold: true,
    turnedAwayMax: 128,
    sentAwayMax: 1_024,
    turnedAwayMs: 2_000,
  },
  /** Told to callers beyond these. */
  retryAfterSeconds: 5,
  eventsDefault: 100,
  /** Most events in one answer, over all recipients together. */
  eventsMax: 1_000,
  recipientsMax: 100,
  leavesPerRequestMax: 100,
} as const
