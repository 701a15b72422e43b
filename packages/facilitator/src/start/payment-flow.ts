/** The flow of a payment, wired to its adapters. */
import { SvcError } from '@svc-zerc20/protocol'
import { createTickets } from '../addresses/tickets.js'
import { createSignerThread } from '../chain/signers/signer-thread.js'
import { createSigners } from '../chain/signers/signers.js'
import { limits } from '../config/limits.js'
import { feeTermsOf } from '../config/settings.js'
import { createIssueChallenge } from '../payment/issue/challenge.js'
import type { AddressSource, Burner } from '../payment/ports.js'
import { createBurns } from '../payment/settle/burns.js'
import { createExamine } from '../payment/settle/examine.js'
import { createPayerWaits } from '../payment/settle/payer-waits.js'
import { createResume } from '../payment/settle/resume.js'
import { createSettle } from '../payment/settle/settle.js'
import { createVerify } from '../payment/settle/verify.js'
import { createStatus } from '../payment/status.js'
import { createBurner } from '../sending/burner/burner.js'
import { createBurnTrial } from '../sending/burner/trial.js'
import type { Parts } from './parts.js'

export type PaymentFlow = Awaited<ReturnType<typeof createPaymentFlow>>

export async function createPaymentFlow(parts: Parts, addresses: AddressSource) {
  const { config, chainSide, clock } = parts
  const { ledger } = parts.storage
  const { chain, deployment } = chainSide
  const { log } = parts.telemetry
  const { settlement } = config
  const closing = new AbortController()
  const tickets = createTickets(parts.seed)
  const signerThread = createSignerThread({
    questionsMax: limits.signersPerMessageMax,
    messagesInFlightMax: limits.signerMessagesInFlightMax,
    onLost: (err) => log({ event: 'recovery.lost', err }),
  })
  const signers = createSigners({
    deployment,
    cacheEntries: limits.signerCacheEntries,
    thread: signerThread,
  })
  const payerWaits = createPayerWaits({
    clock,
    firstMs: limits.payerWaitFirstMs,
    maxMs: limits.payerWaitMaxMs,
    forgetMs: limits.payerWaitForgetMs,
    payersMax: limits.payersWaitingMax,
  })
  const draining = new AbortController()
  const burns = createBurns({
    burner: wireBurner(parts, closing.signal),
    ledger,
    payerWaits,
    clock,
    report: log,
    retryMs: { first: limits.reorgedRetryFirstMs, max: limits.reorgedRetryMaxMs },
    closing: draining.signal,
  })
  const examine = createExamine({
    deployment,
    ledger,
    chain,
    signers,
    tickets,
    payerWaits,
    clock,
    confirmations: settlement.confirmations,
    presentedLateSecondsMax: limits.presentedLateSecondsMax,
  })
  return {
    issueChallenge: createIssueChallenge({
      deployment,
      addresses,
      ledger,
      tickets,
      chain,
      clock,
      report: log,
      ttlSeconds: settlement.challenge_ttl_seconds,
      addressWaitMs: limits.addressWaitMs,
      terms: { minAmount: settlement.min_amount ?? 0n, fee: feeTermsOf(config) },
      relayMinAmount: settlement.relay_min_amount ?? 0n,
    }),
    verify: createVerify({ examine }),
    settle: createSettle({
      deployment,
      examine,
      ledger,
      burns,
      report: log,
      receiptPollMs: settlement.receipt_poll_ms,
    }),
    status: createStatus({ ledger, clock }),
    resume: await createResume({ ledger, burns, examine, report: log }),
    /** Stops retries. Resolves when no burn is under way. */
    drain(): Promise<void> {
      draining.abort()
      return burns.idle()
    },
    async close(): Promise<void> {
      draining.abort()
      closing.abort()
      await signerThread.close()
    },
  }
}

function wireBurner(
  { config, chainSide, storage: { ledger }, clock, telemetry }: Parts,
  closing: AbortSignal,
): Burner {
  const { rpc, chain, relayer, deployment } = chainSide
  const { log } = telemetry
  if (!deployment.helper) return noBurner
  const { token, helper } = deployment
  return createBurner({
    chain,
    trial: createBurnTrial({ rpc, token, helper }),
    relayer,
    token,
    helper,
    confirmations: config.settlement.confirmations,
    recordSigned: ledger.recordSigned,
    report: log,
    clock,
    onRpcFailure: (err) => log({ event: 'rpc.failed', err }),
    closing,
  })
}

/** Without a helper no permit is judged burnable, so nothing can reach the burner. */
const noBurner: Burner = {
  burn: () => Promise.reject(new SvcError('invariant', 'the gasless path is not configured')),
  // The helper was taken out of the configuration while burns were under way: they stay claimed.
  resume: () => [],
  watch: () => undefined,
  find: () => Promise.reject(new SvcError('invariant', 'the gasless path is not configured')),
  onReorged: () => undefined,
}
