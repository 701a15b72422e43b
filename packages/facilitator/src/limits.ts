/** Every bound of the daemon that is not configuration, with its unit. */
export const limits = {
  /** A payment request is under 4 KiB; anything much larger is abuse. */
  bodyBytesMax: 65_536,
  /** Receiving the head of a request, and all of it. With the pause between two looks: below 20 s. */
  headMs: 10_000,
  requestMs: 19_000,
  connectionLookMs: 500,
  /** Longer than common proxies keep theirs, so that none of them sends into a connection that is being closed. */
  keptConnectionMs: 65_000,
  /** Beyond the longest wait of a settle: a caller that neither sends nor reads for so long is cut off. */
  silentConnectionMs: 60_000,
  connectionsMax: 4_096,
  /** A small part of them, for whoever connects from one address without a proxy in between. */
  connectionsPerCallerMax: 256,
  /** How long `POST /challenge` waits for an address when the pool is empty. */
  addressWaitMs: 2_000,
  /** A look at the chain for /ready and the metrics stays good for so long, and waits so long for an answer. */
  probeFreshMs: 3_000,
  probeWaitMs: 2_000,
  /** After a failed write /ready has the disk tried again, at most once in so long; it waits so long for the disk. */
  journalRetryAfterMs: 1_000,
  journalTryWaitMs: 2_000,
  /** Less room than this under the journal: it will not take many more payments. */
  journalFreeBytesMin: 16 * 1024 ** 2,
  /** What is owed to the provider is summed up at most once in so long. */
  owedFreshMs: 5_000,
  /** Clocks may differ by half of a challenge's life, and by so much in any case. */
  clockSkewSecondsMin: 30,
  /** From so many journal records on, what reading them left in memory is given back at once. */
  replayedRecordsMany: 10_000,
  /** The journal is looked at so often, and made shorter where that is worth it; after a failure later each time. */
  compactionLookMs: 5_000,
  compactionBackOffMaxMs: 600_000,
  /** A shorter journal is left alone while the daemon runs. */
  compactionBytesMin: 262_144,
  /** Failures of one kind within so long are one line in the log; so many kinds are told apart. */
  logWindowMs: 60_000,
  logKindsMax: 200,
  /** Payments whose latest events are kept for the admin surface, and events of one of them. */
  recentPaymentsMax: 2_000,
  recentEventsPerPaymentMax: 32,
  /** Transfers that cover nothing, remembered for the operator; beyond that only the log tells, or dust fills the disk. */
  unmatchedBurnsMax: 10_000,
  unmatchedPerChallengeMax: 8,
  /** Transfers of the token in one question to the indexer, and addresses with transfers looked at in one round. */
  transfersPerPage: 500,
  foundAddressesPerRoundMax: 200,
  /** Rounds in which an indexer that failed is not asked for transfers. */
  indexerRestRounds: 10,
  /** Issued addresses written to the disk at once; those that come within this time share a write. */
  addressesPerWrite: 500,
  addressGatherMs: 200,
  addressRetryMs: 2_000,
  /** So many that are not on the disk yet: no further challenge is issued. */
  addressesWaitingMax: 20_000,
  /** Without a journal: addresses remembered in memory, the newest. */
  addressesInMemoryMax: 20_000,
  /** Addresses past their retention that are forgotten in one go. */
  addressesForgottenAtOnce: 1_000,
  /** Transfers to one address that are kept, the largest of them: whoever sends dust shuts out no other address. */
  foundPerAddressMax: 32,
  /** Addresses with stuck money are counted for the metrics so often. */
  stuckCountedEveryMs: 60_000,
  /** Payments on one page of the admin surface: asked for nothing, and at most. */
  pageSize: 50,
  pageSizeMax: 500,
  /** Per-caller counters kept; the oldest are forgotten first. */
  rateLimitKeysMax: 10_000,
  /**
   * Requests a minute for one payment that is awaited, whatever else its caller sends: one too early, verify and
   * settle. And further ones, while its caller has room for them.
   */
  presentedSurePerMin: 3,
  presentedFurtherPerMin: 9,
  /**
   * That room: refused and further ones of all payments of one caller together, unless its own rate is higher. With
   * many challenges it would otherwise have many times its rate.
   */
  knownChallengesPerMinMin: 120,
  /** A seller that has a token and no rates of its own has so many times those of a stranger. */
  sellerRateTimes: 10,
  /** Reserved for a seller that says nothing about it, and for all such sellers together. */
  reservedUnsetPercent: 10,
  reservedUnsetPercentMax: 20,
  /** How often the operator is told that a token is nobody's. */
  unknownTokenReportMs: 60_000,
  /** Recovered signers kept, so that settle does not repeat what verify computed. */
  signerCacheEntries: 4_096,
  /** Recoveries in one message to the thread that does them, and messages it may have before it answers. */
  recoveriesPerMessageMax: 32,
  recoveryMessagesInFlightMax: 2,
  rpcTimeoutMs: 10_000,
  /** Bytes of a JSON-RPC answer: far above a receipt with a full batch of burns. */
  rpcAnswerBytesMax: 16 * 1024 * 1024,
  /** Permit queries in one lens call; its answer must stay below the code size limit of EIP-170. */
  lensQueriesMax: 100,
  lensCallsInFlightMax: 2,
  /** Burns in one transaction: 50 items stay below the 2^24 gas cap of EIP-7825. */
  batchItemsMax: 50,
  /** After a refused transaction halved the batches: so many that are mined in a row double them again. */
  batchGrowsAfter: 64,
  /** Unconfirmed burn transactions; while they are out, further burns gather for the next batch. */
  batchesInFlightMax: 8,
  /** While a burn transaction is out, the next one waits so long for company: gas per burn falls by a third. */
  batchGatherMs: 20,
  /** Burns that may wait for a place in a batch; beyond that callers are told to come back. */
  burnQueueMax: 5_000,
  /** Gas the batch takes per item, and around all items; see `minimumBatchGas` of the helper. */
  burnItemGas: 300_000n,
  batchBaseGas: 60_000n,
  /** Times a burn is tried out before it counts as one that would fail: nodes behind one address differ a little. */
  trialsMax: 3,
  /** Pauses before a burn that a reorg took back is tried again, while only the chain or the disk are in its way. */
  reorgedRetryFirstMs: 1_000,
  reorgedRetryMaxMs: 60_000,
  /** Times a burn is put into a new transaction after its nonce was used by a foreign one. */
  burnAttemptsMax: 5,
  /** A payer whose relayed burn failed on chain waits so long, then twice as long each time, up to the bound. */
  payerWaitFirstMs: 10_000,
  payerWaitMaxMs: 3_600_000,
  /** Without another failure for so long after its wait, it begins anew. */
  payerWaitForgetMs: 3_600_000,
  /** Payers remembered for that; the ones that failed longest ago are forgotten first. */
  payersWaitingMax: 10_000,
  /** Mint transactions that are out at once: a burn waits behind no more than these. */
  mintsInFlightMax: 4,
  /** Mints that may wait for their transaction. */
  mintQueueMax: 1_000,
  /** Gas for burns that the key must be able to pay beside a mint: a mint without money would hold up the queue. */
  mintReserveGas: 1_500_000n,
  /** First and longest pause between two looks for receipts. */
  receiptPollFirstMs: 10,
  receiptPollMaxMs: 100,
  /** Longest pause between two questions while the node fails to answer. */
  rpcBackoffMaxMs: 2_000,
  /** Looks at the burn addresses of a mined batch before a missing balance is believed. */
  laggingNodeLooksMax: 50,
  /** A transaction that is still out is sent again, in case the node forgot it. */
  rebroadcastMs: 2_000,
  /** Unmined for so long, the oldest transaction gets a higher fee. */
  feeBumpAfterMs: 12_000,
  /** Replacements of one transaction; every node demands at least 10 % more for each. */
  feeBumpsMax: 10,
  feeBumpPercent: 25n,
  /** A used nonce without a receipt of ours must persist so long before the transaction counts as displaced. */
  displacedAfterMs: 10_000,
  /** Times in a row that the node refuses a transaction for good before its nonce is used up otherwise. */
  refusalsMax: 5,
  /** Looks at the head find nothing new, and so long ago everything was asked for: then it is asked for again. */
  viewAgainMs: 1_000,
  /** Mined transactions kept, to be sent again when a reorg takes them back; the hex digits of their bytes. */
  minedKeptMax: 1_000,
  minedKeptBytesMax: 16 * 1024 * 1024,
  /** Accepted payments whose signed burns the journal keeps for that, the newest; the rest is as after a deep block. */
  signedBurnsKeptMax: 4_096,
  /** Pause between two looks at the blocks of mined transactions. */
  reorgPollMs: 2_000,
  /** No block must have been seen to hold a mined transaction for so long before it counts as taken back. */
  reorgedAfterMs: 4_000,
  /** Fees are asked for again when what is known is older. */
  feesFreshMs: 3_000,
  /** Gas ceiling of one mint; a proof is checked for about 320 000. */
  mintGas: 600_000n,
  /** Payments one round of finalization looks at, mined ones that wait for their depth included. */
  paymentsPerRoundMax: 1_000,
  /** Of those the ones in one batch of questions: two calls each. */
  mintStatesPerBatch: 50,
  /** Of those the ones whose burn it reads again. */
  burnsPerRoundMax: 48,
  /** Of those the ones it mints, so that what is mined by then is not recorded too late. */
  mintsPerRoundMax: 16,
  /** Mints under way beyond those being proved. */
  mintsAheadMax: 2,
  /** Looks for the transaction of a mint before it is recorded without one. */
  mintLooksMax: 3,
  /** A round waits so many periods for the block of a mint, and at least so long; then the next round looks. */
  mintWaitPeriods: 2,
  mintWaitMinMs: 60_000,
  /** Burns that wait for a root longer than this are told of, and again after as long. */
  rootPatienceMs: 600_000,
  /** Pauses of `recover` between rounds, and after a failure. */
  recoverPauseMs: 1_000,
  recoverRetryMaxMs: 4_000,
  /** Rounds of `recover` in a row that bring nothing before it ends: while something fails, and while mints wait. */
  recoverFailedRoundsMax: 8,
  recoverStillRoundsMax: 60,
  /** Lost challenges whose proof of work `recover` searches again at once. */
  derivedAtOnceMax: 256,
  /** Failures never hold finalization back for more periods than this. */
  finalizeBackOffPeriodsMax: 10,
  indexerTimeoutMs: 10_000,
  /** Bytes of an indexer's answer: 64 paths of 40 words, or 100 transfers. */
  indexerAnswerBytesMax: 512 * 1024,
  /** The head may be so many blocks old before the node is asked whether a newer one is there. */
  headStepBlocks: 16n,
  /** Blocks in one question for the token's logs. */
  logSpanBlocksMax: 5_000,
} as const
