/** The composition root: ports meet adapters here and nowhere else. */
import { type ChallengeNonce, Network, parseAddress, SvcError } from '@svc-zerc20/protocol'
import { createAddressMiner, createAddressPool, deriveSeed } from '@svc-zerc20/zk'
import { createBurner } from './adapters/burner.js'
import { createChain, readDeployment } from './adapters/chain.js'
import { createChainProbe } from './adapters/chain-probe.js'
import { countRpc } from './adapters/count-rpc.js'
import { createFees } from './adapters/fees.js'
import { createJsonRpc } from './adapters/json-rpc.js'
import { openLedger } from './adapters/open-ledger.js'
import { createRecoveryThread } from './adapters/recovery-thread.js'
import { createRelayer } from './adapters/relayer.js'
import { createSigners } from './adapters/signers.js'
import { systemClock, systemRandom } from './adapters/system.js'
import { createTickets } from './adapters/tickets.js'
import type { Config } from './config/config.js'
import { judgeAvailability } from './config/rules.js'
import { createAdminAuth } from './http/admin-auth.js'
import { observeAnswers } from './http/observe.js'
import { registerPaymentApi } from './http/payment-api.js'
import { createRateLimit } from './http/rate-limit.js'
import { createServer } from './http/server.js'
import { limits } from './limits.js'
import { createTelemetry, registerOperation } from './operation.js'
import { createBurns } from './payment/burns.js'
import { createIssueChallenge } from './payment/challenge.js'
import { createExamine } from './payment/examine.js'
import { createIssuance } from './payment/issuance.js'
import type { AddressSource, Burner, Clock, Deployment } from './payment/ports.js'
import { createRecover } from './payment/recover.js'
import { createSettle } from './payment/settle.js'
import { createStatus } from './payment/status.js'
import { createVerify } from './payment/verify.js'
import { profileOf } from './profile.js'
import type { Secrets } from './secrets/secrets.js'
import type { Log } from './telemetry/events.js'

export type Facilitator = { readonly url: string; readonly network: string; close(): Promise<void> }

export type StartOptions = {
  readonly config: Config
  readonly secrets: Secrets
  readonly log: Log
  readonly clock?: Clock
  readonly random?: { bytes(length: number): Uint8Array }
}

export async function startFacilitator(options: StartOptions): Promise<Facilitator> {
  const { config, secrets, clock = systemClock, random = systemRandom } = options
  const telemetry = createTelemetry({ log: options.log, clock })
  const { log, metrics } = telemetry
  const { network, settlement, daemon } = config
  const [unavailable] = judgeAvailability(config)
  if (unavailable) throw new SvcError('config_invalid', `${unavailable.key}: ${unavailable.message}`)
  const plainRpc = createJsonRpc({
    url: network.rpc_url,
    timeoutMs: limits.rpcTimeoutMs,
    answerBytesMax: limits.rpcAnswerBytesMax,
  })
  const rpc = countRpc(plainRpc, metrics)
  const { ledger, ...storage } = await openLedger({
    journal: settlement.journal,
    binding: {
      chainId: network.chain_id,
      token: network.token,
      ...(settlement.permit_burner !== undefined && { helper: settlement.permit_burner }),
    },
    clock,
    openMax: daemon.max_open_challenges,
    expiredRetentionSeconds: settlement.expired_challenge_retention_seconds,
    onJournalFailure: (err) => log({ event: 'journal.failed', err }),
  })
  const { records = 0, tornBytes = 0 } = storage.replay ?? {}
  if (storage.replay) log({ event: 'journal.replayed', records })
  if (tornBytes > 0) log({ event: 'journal.torn', bytes: tornBytes })
  const { chainId, tokenName, headNumber } = await readDeployment(rpc, network.token)
  if (chainId !== network.chain_id) {
    throw new SvcError(
      'config_invalid',
      `network.chain_id: is ${network.chain_id}, the RPC reports ${chainId}`,
    )
  }
  const deployment: Deployment = {
    chainId,
    token: network.token,
    tokenName,
    treasury: settlement.treasury,
    ...(settlement.permit_burner !== undefined && { helper: settlement.permit_burner }),
  }
  const chain = createChain({
    rpc,
    token: network.token,
    helper: settlement.permit_burner,
    chainId,
    lensQueriesMax: limits.lensQueriesMax,
    lensCallsInFlightMax: limits.lensCallsInFlightMax,
  })
  chain.sawHead(headNumber)
  const fees = createFees({
    rpc,
    clock,
    freshMs: limits.feesFreshMs,
    bumpPercent: limits.feeBumpPercent,
    feePerGasMax: limits.feePerGasMax,
  })
  const relayer = createRelayer({
    rpc,
    fees,
    account: secrets.relayer.reveal(),
    chainId,
    confirmations: settlement.confirmations,
    clock,
    report: log,
    onHead: chain.sawHead,
    limits,
  })
  const seed = deriveSeed(secrets.treasuryKey.reveal())
  const tickets = createTickets(seed)
  const pool = startAddressPool(config, seed, log, random, clock)
  const closing = new AbortController()
  const burner: Burner = deployment.helper
    ? createBurner({
        chain,
        relayer,
        token: network.token,
        helper: deployment.helper,
        confirmations: settlement.confirmations,
        async recordSigned(transaction, nonces) {
          await ledger.recordSigned(transaction, nonces)
          metrics.observe('svc_burns_per_batch', nonces.length)
        },
        report: log,
        clock,
        onRpcFailure: (err) => log({ event: 'rpc.failed', err }),
        closing: closing.signal,
        limits,
      })
    : noBurner
  const recoveryThread = createRecoveryThread({
    questionsMax: limits.recoveriesPerMessageMax,
    messagesInFlightMax: limits.recoveryMessagesInFlightMax,
    onLost: (err) => log({ event: 'recovery.lost', err }),
  })
  const signers = createSigners({
    deployment,
    cacheEntries: limits.signerCacheEntries,
    thread: recoveryThread,
  })
  const burns = createBurns({ burner, ledger, clock, report: log })
  const examine = createExamine({
    deployment,
    ledger,
    chain,
    signers,
    tickets,
    clock,
    confirmations: settlement.confirmations,
  })
  const profile = profileOf(config)
  const recover = createRecover({ ledger, burns, examine, report: log })
  if (profile.acceptsPayments) recover.resumeTransactions()
  await relayer.start()
  if (profile.acceptsPayments) await recover.restartClaims()

  const adminAuth = createAdminAuth(secrets.adminToken)
  const app = createServer({
    adminAuth,
    chainId,
    trustedProxies: config.listen.trusted_proxies,
    bodyBytesMax: limits.bodyBytesMax,
    requestTimeoutMs: limits.requestTimeoutMs,
    log,
  })
  observeAnswers(app, metrics)
  const issuance = createIssuance({ report: log })
  const rate = (perMinute: number) => createRateLimit({ perMinute, keysMax: limits.rateLimitKeysMax, clock })
  registerPaymentApi(app, {
    chainId,
    profile,
    issueChallenge: issuance.gate(
      createIssueChallenge({
        deployment,
        addresses: pool.addresses,
        ledger,
        tickets,
        chain,
        clock,
        report: log,
        ttlSeconds: settlement.challenge_ttl_seconds,
        addressWaitMs: limits.addressWaitMs,
      }),
    ),
    verify: createVerify({ examine, ledger }),
    settle: createSettle({
      deployment,
      examine,
      ledger,
      burns,
      report: log,
      receiptPollMs: settlement.receipt_poll_ms,
    }),
    status: createStatus({ ledger, clock }),
    ledger,
    clock,
    limits: {
      shared: rate(daemon.rate_limit_per_min),
      issuance: rate(daemon.challenge_per_key_per_min),
      knownChallenge: rate(limits.knownChallengePerMin),
    },
    onGrantFailure: (err) => log({ event: 'request.failed', route: '/settle', err }),
  })
  registerOperation(app, {
    telemetry,
    clock,
    chainId,
    profile,
    adminAuth,
    probe: createChainProbe({
      rpc,
      relayer: relayer.address,
      clock,
      freshMs: limits.probeFreshMs,
      waitMs: limits.probeWaitMs,
    }),
    issuance,
    ledger,
    openChallengesMax: daemon.max_open_challenges,
    addresses: { ready: pool.size, target: config.zerc20.pool_size },
    relayer: {
      address: relayer.address,
      isUsed: deployment.helper !== undefined && profile.acceptsPayments,
      queue: relayer.queue,
    },
    journalStats: storage.journalStats,
  })
  const url = await app.listen({ host: config.listen.host, port: config.listen.port })
  log({ event: 'facilitator.ready', url, network: Network.format(chainId), profile: profile.name })

  return {
    url,
    network: Network.format(chainId),
    async close() {
      const drained = app.close().then(() => burns.idle())
      const idle = new AbortController()
      const grace = clock.sleep(daemon.shutdown_grace_ms, idle.signal)
      await Promise.race([drained, grace]).finally(() => idle.abort())
      app.server.closeAllConnections()
      closing.abort()
      await pool.close()
      await recoveryThread.close()
      relayer.close()
      rpc.close()
      telemetry.close()
      await storage.close()
    },
  }
}

/** Without a helper no permit is judged burnable, so nothing can reach the burner. */
const noBurner: Burner = {
  burn: () => Promise.reject(new SvcError('invariant', 'the gasless path is not configured')),
  // The helper was taken out of the configuration while burns were under way: they stay claimed.
  resume: () => [],
  find: () => Promise.reject(new SvcError('invariant', 'the gasless path is not configured')),
}

function startAddressPool(
  config: Config,
  seed: Uint8Array,
  log: Log,
  random: { bytes(length: number): Uint8Array },
  clock: Clock,
): { addresses: AddressSource; size(): number; close(): Promise<void> } {
  const miner = createAddressMiner({ threads: 1 })
  const pool = createAddressPool({
    miner,
    random,
    clock,
    seed,
    treasury: config.settlement.treasury,
    chainId: config.network.chain_id,
    generation: config.zerc20.generation,
    powBits: config.zerc20.pow_bits,
    targetSize: config.zerc20.pool_size,
    onError: (err) => log({ event: 'address.failed', err }),
  })
  return {
    addresses: {
      async take(waitMs) {
        const ready = await pool.take(waitMs)
        const payTo = parseAddress(ready?.payTo)
        return ready && payTo && { ...ready, payTo, challengeNonce: ready.challengeNonce as ChallengeNonce }
      },
    },
    size: pool.size,
    async close() {
      pool.close()
      await miner.close()
    },
  }
}
