/** Claimed permits whose burn has not ended, by payer: each may still take its amount from the payer. */
import type { Address, ChallengeNonce, Payload } from '@svc-zerc20/protocol'
import type { Challenge, OpenClaim } from '../payment/records.js'

export type OpenClaims = {
  /** A self-transfer is left out: its burn has been made already. */
  add(challenge: Challenge, payload: Payload.Payload): void
  end(nonce: ChallengeNonce): void
  of(payer: Address): readonly OpenClaim[]
}

export function createOpenClaims(): OpenClaims {
  const byPayer = new Map<Address, Map<ChallengeNonce, OpenClaim>>()
  const payerOf = new Map<ChallengeNonce, Address>()
  return {
    add(challenge, payload) {
      if (payload.kind !== 'permit') return
      const { payer, permit } = payload
      const claims = byPayer.get(payer) ?? new Map<ChallengeNonce, OpenClaim>()
      claims.set(challenge.nonce, { challenge, permitNonce: permit.nonce })
      byPayer.set(payer, claims)
      payerOf.set(challenge.nonce, payer)
    },

    end(nonce) {
      const payer = payerOf.get(nonce)
      if (payer === undefined) return
      payerOf.delete(nonce)
      const claims = byPayer.get(payer)
      claims?.delete(nonce)
      if (claims?.size === 0) byPayer.delete(payer)
    },

    of: (payer) => [...(byPayer.get(payer)?.values() ?? [])],
  }
}
