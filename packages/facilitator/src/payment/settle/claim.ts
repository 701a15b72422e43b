/** Claims a challenge for a payload. A refusal is in the words that callers are told. */
import { type ChallengeNonce, type Payload, type Rejection, reject, unreachable } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { PayerMeans } from '../records.js'

/** Undefined when the challenge is claimed; `same_payload` when this very payload had claimed it before. */
export async function claim(
  ledger: Pick<Ledger, 'claim'>,
  challengeNonce: ChallengeNonce,
  payload: Payload.Payload,
  ticketed: boolean,
  means?: PayerMeans,
): Promise<Rejection | 'same_payload' | undefined> {
  const outcome = await ledger.claim(challengeNonce, payload, ticketed, means)
  if (typeof outcome === 'object') return outcome
  switch (outcome) {
    case 'claimed':
      return undefined
    case 'same_payload':
      return 'same_payload'
    case 'other_payload':
      return reject('challenge_claimed')
    case 'permit_nonce_in_use':
      return reject('permit_nonce_in_use')
    case 'forgotten':
      return reject('challenge_expired')
    default:
      return unreachable(outcome)
  }
}
