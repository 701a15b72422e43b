/** The flow of a payment, wired to its adapters. */
import { keccak256 } from '@svc-zerc20/kernel'
import { createTickets } from '../addresses/tickets.js'
import { createSignerThread } from '../chain/signers/signer-thread.js'
import { createSigners } from '../chain/signers/signers.js'
import { limits } from '../config/limits.js'
import { feeTermsOf } from '../config/settings.js'
import { createIssueChallenge } from '../payment/issue/challenge.js'
import type { AddressSource, Signers } from '../payment/ports.js'
import type { Claims } from '../payment/settle/claims.js'
import { createExamine, type Examine } from '../payment/settle/examine.js'
import { createSettle } from '../payment/settle/settle.js'
import { createVerify } from '../payment/settle/verify.js'
import { createStatus } from '../payment/status.js'
import type { Parts } from './parts.js'

export type PaymentFlow = ReturnType<typeof createPaymentFlow>

/** Finds who signed, in its own thread. */
export function openSigners({ chainSide, telemetry }: Parts) {
  const thread = createSignerThread({
    questionsMax: limits.signersPerMessageMax,
    messagesInFlightMax: limits.signerMessagesInFlightMax,
    onLost: (err) => telemetry.log({ event: 'signers.lost', err }),
  })
  const { deployment } = chainSide
  const { metrics } = telemetry
  const signers = createSigners({ deployment, cacheEntries: limits.signerCacheEntries, metrics, thread })
  return { signers, close: thread.close }
}

export const wireExamine = (
  { config, chainSide: { chain, deployment }, storage: { ledger }, seed, clock }: Parts,
  signers: Signers,
): Examine =>
  createExamine({
    deployment,
    ledger,
    chain,
    signers,
    tickets: createTickets(seed),
    clock,
    confirmations: config.settlement.confirmations,
    miningSeconds: limits.miningSeconds,
  })

export function createPaymentFlow(
  parts: Parts,
  flow: { readonly addresses: AddressSource; readonly examine: Examine; readonly claims: Claims },
) {
  const { config, chainSide, clock } = parts
  const { ledger } = parts.storage
  const { chain, deployment } = chainSide
  const { log } = parts.telemetry
  const { settlement } = config
  const { addresses, examine, claims } = flow
  return {
    issueChallenge: createIssueChallenge({
      deployment,
      addresses,
      ledger,
      tickets: createTickets(parts.seed),
      chain,
      clock,
      report: log,
      ttlSeconds: settlement.challenge_ttl_seconds,
      permitOutlivesOfferSeconds: limits.permitOutlivesOfferSeconds,
      addressWaitMs: limits.addressWaitMs,
      terms: { minAmount: settlement.min_amount ?? 0n, fee: feeTermsOf(config) },
      relayMinAmount: settlement.relay_min_amount ?? 0n,
      keccak: keccak256,
    }),
    verify: createVerify({ examine }),
    settle: createSettle({
      deployment,
      examine,
      ledger,
      claims,
      report: log,
      receiptPollMs: settlement.receipt_poll_ms,
    }),
    status: createStatus({ ledger, clock }),
  }
}
