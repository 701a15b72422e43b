/** Payments built by hand, so that a test can alter them. */
import type { PayerOptions } from '@svc-zerc20/payer'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { createPayer } from './buyers.js'
import type { Interop } from './network.js'
import { offerOf, required } from './wire.js'

/** The offer of a fresh 402. */
export async function fetchOffer(url: string): Promise<PaymentRequirements> {
  return offerOf(required(await fetch(url)))
}

/** A valid payment of this offer by a payer with its own state. */
export async function payOffer(
  interop: Pick<Interop, 'rpcUrl' | 'payer'>,
  offer: PaymentRequirements,
  options: Partial<PayerOptions> = {},
): Promise<PaymentPayload> {
  const { x402Version, payload } = await createPayer(interop, options).createPaymentPayload(2, offer)
  return { x402Version, accepted: offer, payload }
}
