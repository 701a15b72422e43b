/** Asks a human about a purchase, and logs question and answer. */
import type { Address, Clock } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import type { AuditEntry, AuditLog } from '../state/audit-log.js'
import { capsOf, leftOf, type Totals } from '../state/capped-totals.js'
import type { Reservation } from '../state/spend-state.js'
import type { Verdict } from '../verdict.js'
import { type ApprovalRequest, type Approver, askHuman } from './approval.js'
import type { Policy } from './policy.js'
import { bodyText, type Purchase, placeOf, shownPathOf } from './purchase.js'

export type AskPorts = {
  readonly policy: Policy
  readonly payer: Address
  readonly totals: Totals
  readonly audit: AuditLog
  /** Undefined when no human can be asked. Purchases that need approval are then refused. */
  readonly approver: Approver | undefined
  /** An amount in tokens, as `1.5 USDC`, or undefined when the token does not tell. */
  readonly inTokens: (token: Address, amount: bigint) => Promise<string | undefined>
  readonly clock: Clock
}

/** Resolves once a human approved, and throws `not_approved` otherwise. */
export type Ask = (purchase: Purchase, why: readonly Verdict[], reservation: Reservation) => Promise<void>

export function createAsk({ policy, payer, totals, audit, approver, inTokens, clock }: AskPorts): Ask {
  async function questionOf(
    { offer, accepted, target, body }: Purchase,
    why: readonly Verdict[],
    { pair, host, addresses, terms }: Reservation,
  ): Promise<ApprovalRequest> {
    const { challengeNonce, token, amount } = offer
    const used = await totals.used(pair, { host, addresses })
    const tokens = await inTokens(token, amount).catch(() => undefined)
    const fee = accepted.extra.fee?.amount
    return {
      challengeNonce,
      terms,
      network: policy.network,
      token,
      payer,
      host: target ? placeOf(target) : host,
      method: target?.method ?? 'unknown',
      path: target ? shownPathOf(target) : 'unknown',
      body: body === undefined ? 'unknown' : bodyText(body),
      amount: `${amount}`,
      ...(tokens !== undefined && { tokens }),
      ...(fee !== undefined && { fee }),
      // The amount is already reserved, and therefore part of what is used.
      remaining: `${leftOf(capsOf(policy), used) ?? 'unlimited'}`,
      why: why.map(({ rule, limit, asked }) => `rule ${rule}: asked ${asked}, allowed ${limit}`).join('; '),
      until: clock.now() + policy.approvalTimeoutMs,
    }
  }

  return async (purchase, why, reservation) => {
    const { challengeNonce } = purchase.offer
    const { terms } = reservation
    const request = await questionOf(purchase, why, reservation)
    await audit.append({
      event: 'approval_asked',
      ...factsOf(challengeNonce, reservation),
      terms,
      why: request.why,
    })
    const answer = approver ? await askHuman(approver, request, policy.approvalTimeoutMs, clock) : 'nobody'
    if (answer === 'approved') {
      await audit.append({ event: 'approved', challengeNonce, terms })
      return
    }
    await audit.append({ event: 'not_approved', challengeNonce, terms, answer })
    throw new PayerError('not_approved', `${request.why}: ${answerWords[answer]}`)
  }
}

/** The part of a reservation that the log shows. */
export const factsOf = (
  challengeNonce: string,
  { host, route, amount, pair, way }: Reservation,
): Omit<AuditEntry, 'event'> => ({ challengeNonce, host, route, amount, pair, way })

const answerWords = {
  denied: 'the answer was no',
  silent: 'nobody answered in time',
  failed: 'nobody could be asked',
  nobody: 'there is nobody to ask',
} as const
