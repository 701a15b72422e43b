/** The page for the official middleware, which takes it as its own paywall or beside others. */
import { type Json, Offer } from '@svc-zerc20/protocol'
import type { PaywallConfig, PaywallProvider } from '@x402/core/server'
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import type { PaywallLook } from './look.js'
import { createPaywall } from './page.js'

/** Fits `paymentMiddleware(routes, server, config, paywall)`, and `withNetwork` of `@x402/paywall`. */
export type SvcPaywall = PaywallProvider & {
  supports(requirement: { readonly scheme: string }): boolean
  generateHtml(requirement: object, paymentRequired: object, config?: PaywallConfig): string
}

/**
 * The paywall for a route table of the official middleware. With `@x402/paywall`, register it before the EVM one, which
 * takes every `eip155` offer for its own. The gates of `sellOnExpress`, `sellOnHono` and `sellOnNext` have it already.
 */
export function svcPaywall(look: PaywallLook = {}): SvcPaywall {
  const named = createPaywall(look)
  function generateHtml(
    first: PaymentRequired | PaymentRequirements | object,
    second?: PaymentRequired | PaywallConfig | object,
    third?: PaywallConfig,
  ): string {
    const isProvider = 'accepts' in first
    const required = (isProvider ? first : second) as Json.JsonObject
    const name = ((isProvider ? second : third) as PaywallConfig | undefined)?.appName
    const paywall = look.name === undefined && name !== undefined ? createPaywall({ ...look, name }) : named
    return paywall.offer(required).html
  }
  return { supports: ({ scheme }) => scheme === Offer.scheme, generateHtml }
}
