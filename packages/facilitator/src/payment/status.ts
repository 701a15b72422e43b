/**
 * The status that a holder of the challenge nonce may know: never the mint, never the recipient, and never that
 * there is a mint. The answer of an accepted payment stays the same, byte for byte, when it is finalized.
 */
import type { ChallengeNonce, Clock, FacilitatorApi } from '@svc-zerc20/protocol'
import type { Ledger } from './ledger-port.js'
import { burnPhaseAt } from './lifecycle.js'

export type Status = (nonce: ChallengeNonce) => Promise<FacilitatorApi.PaymentStatus | undefined>

export function createStatus({ ledger, clock }: { ledger: Pick<Ledger, 'find'>; clock: Clock }): Status {
  return async (nonce) => {
    const payment = await ledger.find(nonce)
    if (!payment) return undefined
    const { challenge, accepted, claim } = payment
    const transaction = accepted?.burn.txHash ?? claim?.txHash
    return {
      challengeNonce: challenge.nonce,
      phase: burnPhaseAt(payment, clock.now()),
      amount: `${challenge.amount}`,
      issuedAt: challenge.issuedAt,
      expiresAt: challenge.expiresAt,
      ...(transaction !== undefined && { transaction }),
      ...(accepted && { acceptedAt: accepted.at }),
    }
  }
}
