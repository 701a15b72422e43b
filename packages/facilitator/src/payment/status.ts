/** What the holder of a challenge nonce may know of its payment: never the mint, never the recipient. */
import type { ChallengeNonce, FacilitatorApi } from '@svc-zerc20/protocol'
import { stateAt } from './lifecycle.js'
import type { Clock, Ledger } from './ports.js'

export type Status = (nonce: ChallengeNonce) => Promise<FacilitatorApi.PaymentStatus | undefined>

export function createStatus({ ledger, clock }: { ledger: Pick<Ledger, 'find'>; clock: Clock }): Status {
  return async (nonce) => {
    const payment = await ledger.find(nonce)
    if (!payment) return undefined
    const { challenge, accepted, claim } = payment
    const transaction = accepted?.burn.txHash ?? claim?.txHash
    return {
      challengeNonce: challenge.nonce,
      phase: stateAt(payment, clock.now()),
      amount: `${challenge.amount}`,
      issuedAt: challenge.issuedAt,
      expiresAt: challenge.expiresAt,
      ...(transaction !== undefined && { transaction }),
      ...(accepted && { acceptedAt: accepted.at }),
    }
  }
}
