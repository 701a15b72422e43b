/** Reads the payment headers, as any client would. */
import { Headers } from '@svc-zerc20/protocol'
import type { PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse } from '@x402/core/types'

type HeaderSource = { readonly headers: { get(name: string): string | null } }

export const required = (response: HeaderSource) => decode(response, 'PAYMENT-REQUIRED') as PaymentRequired
export const receipt = (response: HeaderSource) => decode(response, 'PAYMENT-RESPONSE') as SettleResponse

export function offerOf({ accepts }: PaymentRequired): PaymentRequirements {
  const [offer] = accepts
  if (offer === undefined) throw new Error('no offer in accepts')
  return offer
}

export const paying = (payment: PaymentPayload | object) => ({
  headers: { 'PAYMENT-SIGNATURE': Headers.encode(payment) },
})

function decode({ headers }: HeaderSource, name: string): unknown {
  const decoded = Headers.decode(headers.get(name))
  if (!decoded.ok) throw new Error(`${name}: ${decoded.message}`)
  return decoded.value
}
