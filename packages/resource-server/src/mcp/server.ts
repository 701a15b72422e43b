/**
 * A resource server for transports with static `accepts`, such as MCP. The entry of our scheme is a template. This
 * server replaces it by a fresh offer when it asks for payment, and by the sealed echo when a payment arrives.
 */
import { type Clock, Json, Offer, parseAmount } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { type PaymentPayload, type PaymentRequirements, SettleError } from '@x402/core/types'
import type { Bound } from '../offers/seal.js'
import { type ListPrice, parsePrice, type SaleTerms, type Terms, toTerms } from '../offers/terms.js'
import type { SvcScheme } from '../scheme/scheme.js'
import type { AnswerStore } from '../served/answer-store.js'
import { createServed, type Served } from '../served/served.js'

export type ToolSale = SaleTerms & {
  readonly price: ListPrice
  /** Name of the resource, such as `mcp://tool/search`. An offer for one resource never buys another. */
  readonly sells: string
}

/** Where results of accepted payments are kept, as on a paid route. */
export type ToolAnswers = { readonly answers?: AnswerStore | 'none'; readonly clock?: Clock }

type Required = Parameters<x402ResourceServer['createPaymentRequiredResponse']>
type Settle = Parameters<x402ResourceServer['settlePayment']>

export class SvcMcpServer extends x402ResourceServer {
  readonly #svc: SvcScheme
  /** Results of paid tools, kept for payers whose connection broke. */
  readonly served: Served

  /** Registers the scheme. Further clients and schemes are added as on the official server. */
  constructor(
    svc: SvcScheme,
    otherClients: readonly FacilitatorClient[] = [],
    { answers, clock = systemClock }: ToolAnswers = {},
  ) {
    super([svc.facilitatorClient, ...otherClients])
    this.#svc = svc
    this.served = createServed(answers, clock)
    this.register(svc.network, svc)
  }

  /** The static `accepts` entry of a tool: a template that payers never see. */
  accept({ price, sells, ...terms }: ToolSale): PaymentRequirements {
    const list = parsePrice(price).toString()
    const { network, token } = this.#svc
    const template = { list, sells, ...toTerms(terms) }
    // Plain data, because the official wrapper clones the entry.
    const extra = { template, ...template.extra }
    return {
      scheme: Offer.scheme,
      network,
      asset: token,
      amount: list,
      payTo: '',
      maxTimeoutSeconds: 0,
      extra,
    }
  }

  override async createPaymentRequiredResponse(...[requirements, info, error, ...rest]: Required) {
    // Without an error the official wrapper only wants to match a payment, so no offer is issued.
    const accepts = error === undefined ? requirements : await this.#issue(requirements)
    return super.createPaymentRequiredResponse(accepts, info, error, ...rest)
  }

  override findMatchingRequirements(available: PaymentRequirements[], payload: PaymentPayload) {
    for (const requirements of available) {
      const template = readTemplate(requirements)
      if (template === undefined) continue
      const restored = this.#svc.offers.restore(payload, template.bound, template.terms)
      if (restored !== undefined) return restored
    }
    const others = available.filter((requirements) => readTemplate(requirements) === undefined)
    return super.findMatchingRequirements(others, payload)
  }

  /** The offer of ours that is echoed, whatever it costs now: a payment that was accepted is owed its answer. */
  unseal(
    available: readonly PaymentRequirements[],
    payload: PaymentPayload,
  ): PaymentRequirements | undefined {
    for (const requirements of available) {
      const template = readTemplate(requirements)
      const unsealed = template && this.#svc.offers.unseal(payload, template.bound.resource, template.terms)
      if (unsealed !== undefined) return unsealed.offer
    }
    return undefined
  }

  /** Throws on a refusal too, because the official MCP wrapper treats every returned result as paid. */
  override async settlePayment(...args: Settle) {
    const result = await super.settlePayment(...args)
    if (!result.success) throw new SettleError(402, result)
    return result
  }

  #issue(requirements: readonly PaymentRequirements[]): Promise<PaymentRequirements[]> {
    const fresh = requirements.map((entry) => {
      const template = readTemplate(entry)
      return template === undefined ? entry : this.#svc.offers.issue(template.bound, template.terms)
    })
    return Promise.all(fresh)
  }
}

function readTemplate({ scheme, extra }: PaymentRequirements): { bound: Bound; terms: Terms } | undefined {
  const template = scheme === Offer.scheme ? extra?.template : undefined
  if (!Json.isObject(template)) return undefined
  const { list: listText, sells, fields, extra: extraTerms } = template
  const list = parseAmount(listText)
  if (list === undefined || typeof sells !== 'string') return undefined
  if (!Json.isObject(fields) || !Json.isObject(extraTerms)) return undefined
  return { bound: { resource: sells, list }, terms: { fields, extra: extraTerms } }
}
