import type { Offer } from '@svc-zerc20/protocol'
import type { PaymentRequirements } from '@x402/core/types'
import { bytesToHex, type Hex } from 'viem'

/** Any address but zero, different for each number. */
export const address = (n: number): Hex => `0x${(0xa0000 + n).toString(16).padStart(40, '0')}`
export const bytes32 = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
export const randomHex = (bytes: number): Hex => bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)))

export type OfferChanges = Partial<Omit<Offer.PaymentRequirements, 'extra'>> & { extra?: object }

/** An offer as a resource server would make it at second `now`; `extra` is merged. */
export function offerAt(now: number, { extra, ...changes }: OfferChanges = {}): PaymentRequirements {
  const expiresAt = now + 300
  return {
    scheme: 'svc-zerc20',
    network: 'eip155:31337',
    asset: address(1),
    amount: '1000',
    payTo: address(2),
    maxTimeoutSeconds: 300,
    extra: { challengeNonce: bytes32(1), expiresAt, helper: address(3), deadline: expiresAt, ...extra },
    ...changes,
  } as PaymentRequirements
}
