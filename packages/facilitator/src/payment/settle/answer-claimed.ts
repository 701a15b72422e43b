/**
 * Answers for a claimed payment. Waits for its burn and its grant, each up to the bound, and tells how both
 * ended.
 */
import {
  type ChallengeNonce,
  type Network,
  type Payload,
  reject,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { SettleAnswer } from '../ports.js'
import type { Payment } from '../records.js'
import type { Claims } from './claims.js'
import type { Refuse } from './refusals.js'

/** A request without the ticket that it needs is told how the payment stands, and can take nothing. */
export function createAnswerClaimed(deps: {
  readonly network: Network.Network
  readonly ledger: Pick<Ledger, 'find' | 'takeGrant'>
  readonly claims: Pick<Claims, 'watch'>
  readonly refuse: Refuse
  readonly receiptPollMs: number
}) {
  const { network, ledger, claims, refuse, receiptPollMs } = deps

  async function find(challengeNonce: ChallengeNonce): Promise<Payment> {
    const payment = await ledger.find(challengeNonce)
    if (!payment) throw new SvcError('payment_lost', `claimed payment ${challengeNonce} left the ledger`)
    return payment
  }

  function refuseGrant(
    payment: Payment,
    why: 'used' | 'held' | 'not_accepted' | 'ticket_needed',
  ): SettleAnswer {
    // `held`: another caller holds the grant without reading its answer. The bound of a settle holds all the same.
    return payment.accepted && why === 'used'
      ? refuse(reject('already_accepted'), knownHash(payment), { phase: 'accepted' })
      : refuse(reject('pending_burn'), knownHash(payment))
  }

  return async (payload: Payload.Payload, ticketed: boolean): Promise<SettleAnswer> => {
    const { challengeNonce } = payload
    // A payer's own transfer is claimed when it is on the chain: nothing of it is under way here.
    const end = payload.kind === 'permit' ? await claims.watch(challengeNonce, receiptPollMs) : undefined
    if (typeof end === 'object' && end.kind === 'failed') return refuse(end.rejection, end.txHash)
    const grant = await ledger.takeGrant(challengeNonce, receiptPollMs, ticketed)
    if (typeof grant === 'string') return refuseGrant(await find(challengeNonce), grant)
    const transaction = grant.accepted.burn.txHash
    const payer = payload.kind === 'permit' ? { payer: payload.payer } : {}
    return {
      response: { success: true, transaction, network, ...payer, extra: { phase: 'accepted' } },
      grant,
    }
  }
}

/** The transaction of the payment's burn, as far as the ledger knows one. */
export function knownHash({ accepted, claim }: Payment): TxHash | undefined {
  return accepted?.burn.txHash ?? claim?.txHash
}
