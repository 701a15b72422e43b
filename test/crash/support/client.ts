/** Payer and resource server in one: asks for an offer, pays, and presents the payment until it is answered. */

import { devnetToken } from '@svc-zerc20/devnet'
import type { PrivateKeyAccount } from 'viem/accounts'
import { bodyOf, type ChallengeOffer, signPermit } from '../../../packages/facilitator/test/payment.js'
import type { CrashNetwork } from './network.js'

export type SettleBody = {
  readonly success: boolean
  readonly errorReason?: string
  readonly transaction: string
  readonly extra?: { readonly phase: string }
}

/** The answer to one presentation of a payment, or `none`. */
export type Answer = SettleBody | 'none'

export type Mode = 'permit' | 'self-transfer'

export type MadePayment = {
  readonly mode: Mode
  readonly account: PrivateKeyAccount
  readonly offer: ChallengeOffer
  /** The same bytes every time. */
  readonly body: object
  readonly answers: Answer[]
}

const posted = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const asOperator = ({ adminToken }: CrashNetwork) => ({ headers: { authorization: `Bearer ${adminToken}` } })

/**
 * Sends a request as the operator. Returns status and body, or undefined when the daemon is down, dies meanwhile, or does
 * not answer in time.
 */
export async function ask(
  net: CrashNetwork,
  path: string,
  body?: object,
): Promise<{ status: number; body: Record<string, unknown> } | undefined> {
  try {
    const request = body ? posted(body) : asOperator(net)
    const response = await fetch(`${net.url()}${path}`, {
      ...request,
      signal: AbortSignal.timeout(net.patience.answerMs),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return undefined
  }
}

export async function requestOffer(net: CrashNetwork, amount: string): Promise<ChallengeOffer> {
  for (;;) {
    const answer = await ask(net, '/challenge', { amount })
    if (answer?.status === 200) return answer.body as unknown as ChallengeOffer
    // A daemon that was stopped while the request came has not read it in time.
    if (answer && answer.status !== 503 && answer.status !== 408)
      throw new Error(`/challenge answered ${JSON.stringify(answer)}`)
    await pause(net)
  }
}

export async function pay(
  net: CrashNetwork,
  account: PrivateKeyAccount,
  offer: ChallengeOffer,
  mode: Mode,
): Promise<MadePayment> {
  const payload =
    mode === 'permit'
      ? await signPermit(offer, account, {
          tokenName: devnetToken.name,
          nonce: await net.permitNonce(account.address),
        })
      : {
          challengeNonce: offer.challengeNonce,
          burnTxHash: await net.transfer(account, offer.payTo, BigInt(offer.amount)),
        }
  return { mode, account, offer, body: bodyOf(offer, payload), answers: [] }
}

/** An offer, paid but not presented. */
export async function prepare(
  net: CrashNetwork,
  account: PrivateKeyAccount,
  mode: Mode = 'permit',
  amount = '1000',
): Promise<MadePayment> {
  return pay(net, account, await requestOffer(net, amount), mode)
}

export async function present(net: CrashNetwork, payment: MadePayment): Promise<Answer> {
  const answer = (await ask(net, '/settle', payment.body))?.body as SettleBody | undefined
  payment.answers.push(answer ?? 'none')
  return answer ?? 'none'
}

/** Reasons after which a resource server presents the same payload again. */
const unfinished = new Set([
  'pending_burn',
  'chain_unavailable',
  'storage_unavailable',
  'relayer_busy',
  'standby',
  'overloaded',
  'burn_not_found',
  'too_many_requests',
  // A daemon that is shutting down gives no reason.
  undefined,
])

/** Presents the payment until the answer is final, as a resource server does. */
export async function presentUntilAnswered(net: CrashNetwork, payment: MadePayment): Promise<SettleBody> {
  for (;;) {
    const answer = await present(net, payment)
    if (answer !== 'none' && (answer.success || !unfinished.has(answer.errorReason))) return answer
    await pause(net)
  }
}

async function pause(net: CrashNetwork): Promise<void> {
  if (net.isClosed()) throw new Error('the network is closed')
  await new Promise((resolve) => setTimeout(resolve, net.patience.pauseMs))
}
