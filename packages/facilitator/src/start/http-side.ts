/** The routes of the daemon on one server. */
import type { FastifyInstance } from 'fastify'
import type { Addresses } from '../adapters/addresses.js'
import { createChainProbe } from '../adapters/chain-probe.js'
import type { OpenLedger } from '../adapters/open-ledger.js'
import type { Config } from '../config/config.js'
import { createAdminAuth } from '../http/admin-auth.js'
import { observeAnswers } from '../http/observe.js'
import { registerPaymentApi } from '../http/payment-api.js'
import { createRateLimit } from '../http/rate-limit.js'
import { createServer } from '../http/server.js'
import { limits } from '../limits.js'
import { createIssuance } from '../payment/issuance.js'
import type { Clock } from '../payment/ports.js'
import type { Profile } from '../profile.js'
import type { Secrets } from '../secrets/secrets.js'
import type { ChainSide } from './chain-side.js'
import type { Finalization } from './finalization.js'
import { registerOperation, type Telemetry } from './operation.js'
import type { PaymentFlow } from './payment-flow.js'

export function createHttpSide(deps: {
  readonly config: Config
  readonly secrets: Secrets
  readonly profile: Profile
  readonly chainSide: ChainSide
  readonly storage: OpenLedger
  readonly addresses: Addresses
  readonly flow: PaymentFlow
  readonly finalization: Finalization
  readonly clock: Clock
  readonly telemetry: Telemetry
}): FastifyInstance {
  const { config, profile, storage, flow, clock, telemetry } = deps
  const { rpc, relayer, deployment } = deps.chainSide
  const { ledger } = storage
  const { daemon } = config
  const { log, metrics } = telemetry
  const { chainId } = deployment
  const adminAuth = createAdminAuth(deps.secrets.adminToken)
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
    issueChallenge: issuance.gate(flow.issueChallenge),
    verify: flow.verify,
    settle: flow.settle,
    status: flow.status,
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
    retryMint: deps.finalization.retry,
    ledger,
    openChallengesMax: daemon.max_open_challenges,
    addresses: deps.addresses,
    relayer: {
      address: relayer.address,
      isUsed: deployment.helper !== undefined && profile.acceptsPayments,
      queue: relayer.queue,
    },
    journalStats: storage.journalStats,
  })
  return app
}
