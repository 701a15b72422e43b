/**
 * The part of a payment that the facilitator may see: the scheme's own fields. Everything that names the resource is
 * removed: the payload's `resource` and extensions, descriptions, the seller's own extra fields, the seal.
 */
import { Json, Offer } from '@svc-zerc20/protocol'
import type { DeepReadonly, PaymentPayload, PaymentRequirements } from '@x402/core/types'

export type PresentedPayload = DeepReadonly<PaymentPayload>
export type PresentedRequirements = DeepReadonly<PaymentRequirements>

const extraKeys: ReadonlySet<string> = new Set(Offer.extraKeys)

export function discloseRequirements(requirements: PresentedRequirements): PaymentRequirements {
  const { scheme, network, asset, amount, payTo, maxTimeoutSeconds } = requirements
  const extra = Json.isObject(requirements.extra) ? requirements.extra : {}
  return {
    scheme,
    network,
    asset,
    amount,
    payTo,
    maxTimeoutSeconds,
    extra: Object.fromEntries(Object.entries(extra).filter(([key]) => extraKeys.has(key))),
  }
}

export function disclosePayload({ x402Version, accepted, payload }: PresentedPayload): PaymentPayload {
  return { x402Version, accepted: discloseRequirements(accepted), payload: { ...payload } }
}
