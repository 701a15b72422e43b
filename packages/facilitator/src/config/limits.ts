/**
 * Bounds that an operator may meet and that are not configuration, with their units. Other bounds are constants beside their
 * use.
 */
export const limits = {
  /** A payment request is under 4 KiB; anything much larger is abuse. */
  bodyBytesMax: 65_536,
  /** Time to receive the head of a request, and the whole request. Checked every `connectionPollMs`: below 20 s in all. */
  headMs: 10_000,
  requestMs: 19_000,
  connectionPollMs: 500,
  /** Idle connections stay open longer than at common proxies, so that no proxy sends into one that is being closed. */
  keptConnectionMs: 65_000,
  /** A caller that neither sends nor reads for this long is cut off. Longer than any settle waits. */
  silentConnectionMs: 60_000,
  /**
   * Connections of all callers, of which one address may have a fifth: a busy shop settles hundreds of payments a second,
   * and each waits on its own connection for some seconds.
   */
  connectionsMax: 8_192,
  /** Connections beyond these that are read, to be told so, and the time for the head of their request. */
  turnedAwayMax: 512,
  turnedAwayMs: 2_000,
  /** Connections beyond even those, which are told so without being read. */
  sentAwayMax: 4_096,
  /** Connections that wait to be accepted while the daemon is busy. The system may allow fewer. */
  listenBacklog: 4_096,
  /**
   * Settles that wait for their blocks at a time: those of all batches in flight, 8 of 50, and half as many that gather behind
   * them. And how late the event loop may be, on average over a second. `http/under-way.ts`
   */
  underWay: { settlesMax: 600, delayMsMax: 500, retryAfterSeconds: 2 },
  loopDelayTickMs: 100,
  /** Time for closing files and connections, once the work under way had its grace. Then the process ends anyway. */
  closeWaitMs: 5_000,
  /** How long `POST /challenge` waits for an address when the pool is empty. */
  addressWaitMs: 2_000,
  /** How long a look at the chain serves /ready and the metrics, and how long a look waits for the node. */
  probeFreshMs: 3_000,
  probeWaitMs: 2_000,
  /** How long the metrics and the status wait for the ledger: less than any scrape waits for them. */
  scrapeLedgerMs: 5_000,
  /** After a failed write, /ready tries the disk again at most this often, and waits this long for the disk. */
  journalRetryAfterMs: 1_000,
  journalTryWaitMs: 2_000,
  /** Free disk space below which /ready warns that the journal will soon be full, and a check fails. */
  journalFreeBytesMin: 16 * 1024 ** 2,
  /** A check warns below this much free disk. The database takes about 520 MB for 100 000 payments. */
  freeBytesWarn: 1024 ** 3,
  /** Clocks may always differ by this much, and otherwise by half of a challenge's lifetime. */
  clockSkewSecondsMin: 30,
  /** A journal is cut when it is longer: a start reads at most this much. */
  journalBytesMax: 8 * 1024 ** 2,
  /** How long a step waits for a disk that does not answer. */
  storageWaitMs: 10_000,
  /** How long a lease runs, how often it is renewed, and how often others look whether it ran out. */
  leaseMs: 6_000,
  leaseRenewMs: 1_500,
  leasePollMs: 500,
  /** After this time without a sign of life a daemon is left out of the list. */
  daemonForgottenMs: 3_600_000,
  /**
   * How long a daemon that takes over gives no grant of what was accepted before: the one before may have answered, and not have
   * recorded that yet. And how often callers who wait for one, and answers that were not recorded, are looked at again.
   */
  grantHoldMs: 30_000,
  sharedPollMs: 250,
  /** Failures of one kind are one log line per window. */
  logWindowMs: 60_000,
  /** Days that one question for hours may span. */
  hoursDaysMax: 32,
  /** Unmatched transfers kept for the operator. Further ones are only logged, so that dust cannot fill the disk. */
  unmatchedBurnsMax: 10_000,
  unmatchedPerChallengeMax: 8,
  /** Addresses with transfers that are handled in one round. */
  foundAddressesPerRoundMax: 200,
  /** The file of the history is written this long behind the ledger, and tried again this long after a failure. */
  historyPauseMs: 500,
  historyRetryMs: 5_000,
  /** Addresses past their retention that one pass deletes. */
  addressesForgottenAtOnce: 1_000,
  /** Transfers kept per address, the largest ones, so that dust sent to one address cannot crowd out others. */
  foundPerAddressMax: 32,
  /** How often addresses with stuck money are counted for the metrics. */
  stuckCountedEveryMs: 60_000,
  /** Default and maximum page size of the admin API. */
  pageSize: 50,
  pageSizeMax: 500,
  /** Per-caller counters kept; the oldest are forgotten first. */
  rateLimitKeysMax: 10_000,
  /** Presentations of one challenge by one caller a minute. A resource server that tries everything again sends eleven. */
  presentedPerMin: 12,
  /** Requests of one caller a minute that are no payments: each kind for itself, and none of them takes from the payments. */
  asidePerMin: { page: 120, status: 300, document: 20, unrouted: 120 },
  /**
   * Requests of one caller to the operator's surface without its token that are answered at once, the wait of the next one,
   * doubled each time, its bound, and the time without another after which all this is forgotten.
   */
  wrongTokensFree: 120,
  wrongTokenWaitFirstMs: 250,
  wrongTokenWaitMaxMs: 5_000,
  wrongTokensForgetMs: 60_000,
  /** A seller with a token and no configured rates gets the rates of a stranger times this. */
  sellerRateTimes: 10,
  /** Exports of one participant at the same time. */
  historyExportsAtOnceMax: 2,
  /** Time for one export, as long as a token is good: a thief of one must not read, or block the others, for longer. */
  historyExportMsMax: 900_000,
  /** Login challenges and logins a minute of one caller, together. */
  historyLoginsPerMin: 20,
  /** Logins of one wallet that are remembered until their message expires. At this number the wallet gets in no more. */
  usedLoginNoncesMax: 1_000,
  /** Logins that wait for the answer of a contract wallet. */
  walletCallsInFlightMax: 8,
  /** How long wallets that are no contracts are not asked again: strangers must not spend the operator's RPC calls. */
  emptyWalletsMs: 60_000,
  /** Signers kept in a cache, so that settle does not repeat the work of verify. */
  signerCacheEntries: 4_096,
  /** Signatures in one message to the signer thread, and unanswered messages it may have. */
  signersPerMessageMax: 32,
  signerMessagesInFlightMax: 2,
  rpcTimeoutMs: 10_000,
  /** Bytes of a JSON-RPC answer: far above a receipt with a full batch of burns. */
  rpcAnswerBytesMax: 16 * 1024 * 1024,
  /** Permit queries in one lens call; its answer must stay below the code size limit of EIP-170. */
  lensQueriesMax: 100,
  lensCallsInFlightMax: 2,
  /** Burns in one transaction: 50 items stay below the 2^24 gas cap of EIP-7825. */
  batchItemsMax: 50,
  /** A refused transaction halves the batch size; this many mined in a row double it again. */
  batchGrowsAfter: 64,
  /** Unconfirmed burn transactions; while they are out, further burns gather for the next batch. */
  batchesInFlightMax: 8,
  /**
   * How long a batch gathers burns while others are out, and the most where nobody knows when the next block comes. A full one
   * is sent at once: gas per burn falls by a third.
   */
  batchGatherMsMin: 40,
  batchGatherMsMax: 2_000,
  batchGatherBlindMsMax: 320,
  /** Burns that may wait for a place in a batch; beyond that callers are told to come back. */
  burnQueueMax: 5_000,
  /** Gas the batch takes per item, and around all items; see `minimumBatchGas` of the helper. */
  burnItemGas: 300_000n,
  batchBaseGas: 60_000n,
  /** Simulations that must fail before a burn is dropped: nodes behind one address differ a little. */
  trialsMax: 3,
  /** First and longest pause before a burn that broke off, or that a reorg took back, is tried again. */
  burnRetryFirstMs: 1_000,
  burnRetryMaxMs: 60_000,
  /** New transactions for one burn whose txNonce a foreign transaction used. */
  burnAttemptsMax: 5,
  /** First and longest wait of a payer whose relayed burn failed on chain; doubled each time. */
  payerWaitFirstMs: 10_000,
  payerWaitMaxMs: 3_600_000,
  /** A payer without another failure for this long after its wait starts from the first wait again. */
  payerWaitForgetMs: 3_600_000,
  /** Unconfirmed mint transactions: a burn waits behind no more than these. */
  mintsInFlightMax: 4,
  /** Mints that may wait for their transaction. */
  mintQueueMax: 1_000,
  /** Gas for burns that the relayer must still be able to pay after a mint, so that a mint cannot block burns. */
  mintReserveGas: 1_500_000n,
  /** First and longest pause between two looks for receipts. */
  receiptPollFirstMs: 10,
  receiptPollMaxMs: 100,
  /** Longest time without a look because no block is due: blocks that come early are seen after it. */
  quietMaxMs: 1_000,
  /** Longest pause between two questions while the node fails to answer. */
  rpcBackoffMaxMs: 2_000,
  /** Reads of the burn addresses of a mined batch before a missing balance is believed. */
  laggingNodeReadsMax: 50,
  /** How often an unconfirmed transaction is sent again, in case the node forgot it. */
  rebroadcastMs: 2_000,
  /** The oldest transaction gets a higher gas price after it stayed unmined this long. */
  priceBumpAfterMs: 12_000,
  /** Replacements of one transaction; every node demands at least 10 % more for each. */
  priceBumpsMax: 10,
  priceBumpPercent: 25n,
  /** How long a txNonce must be used without a receipt of ours before our transaction counts as displaced. */
  displacedAfterMs: 10_000,
  /** Refusals in a row before the txNonce of a transaction is used up by an empty one. */
  refusalsMax: 5,
  /** Re-read everything after this long, even if the head has not moved. */
  viewAgainMs: 1_000,
  /** Mined transactions kept, to be sent again after a reorg, and the hex digits of their bytes in all. */
  minedKeptMax: 1_000,
  minedKeptBytesMax: 16 * 1024 * 1024,
  /** How often the blocks of mined transactions are checked for a reorg. */
  reorgPollMs: 2_000,
  /** How long the commands wait for an answer of the daemon. */
  adminAnswerMs: 10_000,
  /** An audit beside a running daemon passes over mints and burns in the newest blocks: they may not be recorded yet. */
  auditYoungBlocks: 32,
  /** How often a daemon that just started looks whether it is ready. */
  readyPollMs: 250,
  /** A mined transaction counts as taken back after no block held it for this long. */
  reorgedAfterMs: 4_000,
  /** Gas prices older than this are read again. */
  gasPricesFreshMs: 3_000,
  /** Gas limit of one mint. A mint takes about 320 000. */
  mintGas: 600_000n,
  /** Payments in one round of finalization, those that wait for depth included. */
  paymentsPerRoundMax: 1_000,
  /** Payments of a round in one batch of RPC calls, two calls each. */
  mintStatesPerBatch: 50,
  /** Payments of a round whose burn is read again. */
  burnsPerRoundMax: 48,
  /** Payments of a round that are minted. A longer round would record mined ones too late. */
  mintsPerRoundMax: 16,
  /** Mints beyond those being proved that may be under way. */
  mintsAheadMax: 2,
  /** Searches for the transaction of a mint before the payment is recorded without one. */
  mintReadsMax: 3,
  /** A round waits this many periods for the block of a mint, but at least `mintWaitMinMs`. */
  mintWaitPeriods: 2,
  mintWaitMinMs: 60_000,
  /** How long a burn waits for a root before the operator is told, and the pause before telling again. */
  rootPatienceMs: 600_000,
  /** Lost challenges whose proof of work `recover` searches at the same time. */
  derivedAtOnceMax: 256,
  /** Longest pause of finalization after failures, in periods. */
  finalizeBackOffPeriodsMax: 10,
  /** Gas limits of a sweep, which is one transfer, and of a distribution, which is two. Unused gas is not paid. */
  sweepGas: 300_000n,
  distributionGas: 500_000n,
  /** Payments in one sweep: its record in the ledger has a nonce of each. */
  paymentsPerSweepMax: 1_000,
  /** How often fees are looked at, and first and longest pause after a failure. */
  sweepPollMs: 10_000,
  sweepRetryFirstMs: 30_000,
  sweepRetryMaxMs: 3_600_000,
  /** How often a sweep whose txNonce somebody else used is looked at, until that is deep. */
  displacedPollMs: 10_000,
  indexerTimeoutMs: 10_000,
  indexerStatusMs: 2_000,
  /** Bytes of an indexer's answer: 64 paths of 40 words, or 100 transfers. */
  indexerAnswerBytesMax: 512 * 1024,
  /** A head further than this from the known one is looked up at the node before it is used. */
  headStepBlocks: 16n,
  /** Blocks in one request for the token's logs. */
  logSpanBlocksMax: 5_000,
  /** Statements that one participant gets in an hour: each is a file that is kept. */
  statementsPerHourMax: 240,
  /**
   * How long after its end a total of a period is signed. A payment bears the time at which its daemon asked to record it,
   * by the clock of that daemon: it may become visible this much later.
   */
  periodRestSeconds: 60,
  /** How long a list of revoked statements is good, so that an old one is noticed, and how long a signed one is served. */
  revocationsLifetimeSeconds: 7 * 86_400,
  revocationsFreshMs: 10_000,
  /** How often the files of the issuer are read again, and their largest size. */
  issuerPollMs: 5_000,
  issuerFileBytesMax: 262_144,
  /** How long before its end a manifest is worth a warning. */
  manifestEndWarningSeconds: 30 * 86_400,
  /** A check warns when chain time is ahead of ours by this much. Only a wrong clock explains it. */
  clockBehindWarnSeconds: 5,
  /** And when it is behind ours by this much. Larger, because slow or quiet chains mine seldom. */
  blockAgeWarnSeconds: 60,
  /** Calls in one round trip of a check. A whole check makes fewer. */
  checkCallsPerBatch: 100,
  /** How long a check waits for an answer over HTTP. */
  checkAnswerMs: 3_000,
  /** Earlier verifiers that a check follows. Each costs a round trip. */
  predecessorsMax: 16,
  /** Folders that a check searches in one place for proving keys. */
  artifactFoldersMax: 32,
  /** `check` warns when the pool of addresses takes longer than this to fill. */
  poolFillWarnSeconds: 600,
  /** Tries of proof of work by which `check` measures this machine: in one call, and calls. Together about 100 ms. */
  poolTries: 512,
  poolSlices: 8,
  /**
   * How much later than its offer a permit ends: who pays in the last second has a burn that must still be mined, at a raised
   * gas price if need be.
   */
  permitOutlivesOfferSeconds: 120,
  /** A burn is claimed and sent while its deadline is at least this far behind the newest block: three blocks of 12 s. */
  miningSeconds: 36,
  /** The furthest deadline that payers sign for. */
  signatureSecondsMax: 86_400,

  // Mining and keeping addresses
  /** Tries between which a worker reads its mailbox, and the most work a crash can lose. */
  minerSliceTries: 2048,
  /** A search fails after this many times the expected tries; by chance that happens once in e^64. */
  minerTriesPerExpectedMax: 64,
  /** Crashed workers one task may outlive. */
  minerCrashesPerTaskMax: 3,
  /** A thread without a task is ended after this time; the next task starts another. */
  minerThreadRestMs: 10_000,
  /** Tasks that may wait for a free worker. */
  minerQueuedTasksMax: 1024,
  /** Callers that may wait for an address at once. */
  addressWaitersMax: 1024,
  /** How often a daemon looks at a pool that others fill, too. */
  sharedAddressesPollMs: 500,
  /** Share of the pool that is kept for sellers with a token, where there are any. */
  poolSellersShare: 0.25,
  /** A pool is refilled at once when this share of it is left. */
  poolLowWaterShare: 0.5,
  /** Above the low-water mark, refilling waits until nobody asked for this long: mining must not slow down callers. */
  poolQuietMs: 250,
  /** Pause of a refill after a failure, so that a broken miner cannot spin. */
  poolRefillPauseMs: 1000,
} as const
