/**
 * The permission to sign, for exactly one purchase. Only the guard grants it, and everything that signs needs
 * it.
 */
import { createHash } from 'node:crypto'
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { PayableOffer } from '../offer.js'
import { PayerError } from '../payer-error.js'

/** Ways to pay: somebody else burns with our signature, or we burn ourselves. */
export type Way = 'permit' | 'self-transfer'

declare const given: unique symbol
export type Permission = {
  readonly challengeNonce: ChallengeNonce
  /** Hash of what may be signed, made by `termsHash`. */
  readonly terms: string
  readonly [given]: true
}

/**
 * One hash over everything that decides what is signed. Numbers that only the chain decides are left out,
 * because they move while a human thinks: the permit nonce, and the nonce and gas of a transaction. None of
 * them changes who gets what.
 */
export function termsHash(payer: Address, way: Way, offer: PayableOffer): string {
  const { challengeNonce, chainId, token, payTo, amount, expiresAt, helper, deadline } = offer
  const terms = [
    'svc-zerc20 terms 1',
    ...[payer, way, chainId, token, payTo, amount, challengeNonce, expiresAt],
    ...(way === 'permit' ? [helper, deadline] : []),
  ]
  return `0x${createHash('sha256').update(terms.map(String).join('\n')).digest('hex')}`
}

export const grant = (challengeNonce: ChallengeNonce, terms: string): Permission =>
  ({ challengeNonce, terms }) as Permission

/** Refuses to sign anything that the permission does not cover. */
export function assertCovers(permission: Permission, payer: Address, way: Way, offer: PayableOffer): void {
  if (permission.challengeNonce === offer.challengeNonce && permission.terms === termsHash(payer, way, offer))
    return
  throw new PayerError('offer_changed', `challenge ${offer.challengeNonce}`)
}
