/** Asks a human about a purchase, and logs question and answer. */
import { type Address, type ChallengeNonce, type Clock, createBoundedMap } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import type { AuditEntry, AuditLog } from '../state/audit-log.js'
import { capsOf, leftOf, type Totals } from '../state/capped-totals.js'
import type { Target } from '../state/payments.js'
import type { Reservation } from '../state/spend-state.js'
import type { Verdict } from '../verdict.js'
import { type ApprovalRequest, type Approver, askHuman } from './approval.js'
import type { Policy } from './policy.js'
import { approvalHash, bodyText, type Purchase, placeOf, shownUrlOf } from './purchase.js'

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
  readonly limits: Pick<PayerLimits, 'approvalMsMax'>
}

/** The yes of a human: to what, made by `approvalHash`, and when. */
export type Yes = { readonly approval: string; readonly atMs: number }

export type Ask = {
  /**
   * Resolves with the yes of a human to exactly this purchase, and throws `not_approved` otherwise. A human who approved it
   * in this process is not asked again for as long as that yes counts.
   */
  approve(purchase: Purchase, why: readonly Verdict[], reservation: Reservation): Promise<Yes>
  /** The refusal of a yes that is too old to sign with. Undefined while it counts. */
  judgeAge(yes: Yes): Verdict | undefined
}

/** Approvals that are remembered. The oldest is forgotten first, and asked for again. */
const approvalsMax = 1_000

export function createAsk(ports: AskPorts): Ask {
  const { clock, limits } = ports
  const ask = createQuestions(ports)
  const approved = createBoundedMap<ChallengeNonce, Yes>(approvalsMax)

  /** A clock that was set back makes no yes young again. */
  const isYoung = ({ atMs }: Yes) => Math.abs(clock.now() - atMs) < limits.approvalMsMax

  return {
    async approve(purchase, why, reservation) {
      const { challengeNonce } = purchase.offer
      const approval = approvalHash(reservation.terms, purchase)
      const before = approved.get(challengeNonce)
      if (before?.approval === approval && isYoung(before)) return before
      await ask(purchase, why, reservation)
      const yes = { approval, atMs: clock.now() }
      approved.set(challengeNonce, yes)
      return yes
    },

    judgeAge: (yes) =>
      isYoung(yes)
        ? undefined
        : {
            rule: 'approval',
            passes: 'no',
            limit: `a yes of the last ${limits.approvalMsMax / 1_000} s`,
            asked: 'a signature after that',
            code: 'not_approved',
          },
  }
}

/** Asks once, and logs question and answer. */
function createQuestions({ policy, payer, totals, audit, approver, inTokens, clock }: AskPorts) {
  async function questionOf(
    purchase: Purchase,
    why: readonly Verdict[],
    { pair, host, addresses, terms }: Reservation,
  ): Promise<ApprovalRequest> {
    const { offer, accepted, asked, target, body } = purchase
    const { challengeNonce, token, amount } = offer
    const used = await totals.used(pair, { host, addresses })
    const tokens = await inTokens(token, amount).catch(() => undefined)
    const fee = accepted.extra.fee?.amount
    return {
      challengeNonce,
      terms: approvalHash(terms, purchase),
      network: policy.network,
      token,
      payer,
      host: target ? placeOf(target) : host,
      method: target?.method ?? 'unknown',
      url: target ? shownUrlOf(target) : 'unknown',
      ...(asked && target && !isSame(asked, target) && { askedAs: `${asked.method} ${shownUrlOf(asked)}` }),
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

  return async (purchase: Purchase, why: readonly Verdict[], reservation: Reservation): Promise<void> => {
    const { challengeNonce } = purchase.offer
    const { signal, onAsking } = purchase.bounds
    const { terms } = reservation
    const request = await questionOf(purchase, why, reservation)
    await audit.append({
      event: 'approval_asked',
      ...factsOf(challengeNonce, reservation),
      terms,
      approval: request.terms,
      why: request.why,
    })
    onAsking?.(request)
    const answer = approver
      ? await askHuman(approver, request, policy.approvalTimeoutMs, clock, signal)
      : 'nobody'
    if (answer === 'approved') {
      await audit.append({ event: 'approved', challengeNonce, terms, approval: request.terms })
      return
    }
    await audit.append({ event: 'not_approved', challengeNonce, terms, answer })
    if (answer === 'withdrawn') throw signal?.reason
    throw new PayerError('not_approved', `${request.why}: ${answerWords[answer]}`)
  }
}

const isSame = (a: Target, b: Target) => a.method === b.method && shownUrlOf(a) === shownUrlOf(b)

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
