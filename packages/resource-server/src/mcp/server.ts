/**
 * For transports whose `accepts` are static, such as MCP: the entry of our scheme is a template, which this
 * server replaces by a fresh offer whenever payment is asked for, and by the sealed echo when it is given.
 */
import { Json, Offer, parseAmount } from '@svc-zerc20/protocol'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { type PaymentPayload, type PaymentRequirements, SettleError } from '@x402/core/types'
import type { Bound } from '../offers/seal.js'
import { type ListPrice, parsePrice, type SaleTerms, type Terms, toTerms } from '../offers/terms.js'
import type { SvcScheme } from '../scheme/scheme.js'

export type ToolSale = SaleTerms & {
  readonly price: ListPrice
  /** What is sold, such as `mcp://tool/search`: an offer for one resource never buys another. */
  readonly sells: string
}

type Required = Parameters<x402ResourceServer['createPaymentRequiredResponse']>
type Settle = Parameters<x402ResourceServer['settlePayment']>

export class SvcMcpServer extends x402ResourceServer {
  readonly #svc: SvcScheme

  /** Registers the scheme; further clients and schemes are added as on the official server. */
  constructor(svc: SvcScheme, otherClients: readonly FacilitatorClient[] = []) {
    super([svc.facilitatorClient, ...otherClients])
    this.#svc = svc
    this.register(svc.network, svc)
  }

  /** The static `accepts` entry of a tool. Payers never see it as it is. */
  accept({ price, sells, ...terms }: ToolSale): PaymentRequirements {
    const list = parsePrice(price).toString()
    const { network, token } = this.#svc
    const template = { list, sells, ...toTerms(terms) }
    // Plain data, because the official wrapper clones what it is given.
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
    // The official wrapper calls this without an error to match a payment: no offer is due then.
    const accepts = error === undefined ? requirements : await this.#issue(requirements)
    return super.createPaymentRequiredResponse(accepts, info, error, ...rest)
  }

  override findMatchingRequirements(available: PaymentRequirements[], payload: PaymentPayload) {
    for (const requirements of available) {
      const template = readTemplate(requirements)
      if (template === undefined) continue
      const restored = this.#svc.offers.restore(payload.accepted, template.bound, template.terms)
      if (restored !== undefined) return restored
    }
    const others = available.filter((requirements) => readTemplate(requirements) === undefined)
    return super.findMatchingRequirements(others, payload)
  }

  /** Throws on a refusal too: the official MCP wrapper serves whatever does not throw. */
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
