/** The terms of a sale as a seller writes them, and as its offers carry them. */
import { type BaseUnits, conversionOf, type Json, Offer, parseAmount, SvcError } from '@svc-zerc20/protocol'

/** An amount of the token's smallest unit: a decimal string or a bigint. Never a float, never dollars. */
export type ListPrice = string | bigint

/** The standard optional fields; official v2 also carries the first three in `PaymentRequired.resource`. */
export type StandardFields = {
  readonly resource?: string
  readonly description?: string
  readonly mimeType?: string
  readonly outputSchema?: Json.JsonObject
}

export type SaleTerms = StandardFields & {
  /** Take the payment before the handler runs. Default: verify, handler, settle. */
  readonly upfront?: boolean
  /** Further fields of the seller's own for `extra`. The payer sees them, the facilitator does not. */
  readonly extra?: Json.JsonObject
}

/** The seller's additions to an offer: top-level standard fields, and fields of `extra`. */
export type Terms = { readonly fields: Json.JsonObject; readonly extra: Json.JsonObject }

/** Fields of `extra` that belong to the scheme or the SDK. Sellers may not set them, and payers may not add them. */
const schemeExtra = {
  ...Object.fromEntries(Offer.extraKeys.map((key) => [key, true])),
  fee: { amount: true, bps: true },
  seal: true,
  paymentFlow: true,
  assetTransferMethod: true,
}

/** Every key that an offer with these terms can have, at every depth. All others are unknown, and ignored. */
export const knownKeys = ({ fields, extra }: Terms): Json.JsonObject => ({
  scheme: true,
  network: true,
  asset: true,
  amount: true,
  payTo: true,
  maxTimeoutSeconds: true,
  ...fields,
  extra: { ...extra, ...schemeExtra },
})

/** Reads a list price. Throws for anything but a positive amount in base units, which is the seller's mistake. */
export function parsePrice(price: unknown): BaseUnits {
  const list = parseAmount(typeof price === 'bigint' ? price.toString() : price)
  if (list === undefined) {
    const shown = typeof price === 'string' ? JSON.stringify(price) : String(price)
    throw new SvcError(
      'invalid_price',
      `${shown} is no price: expected a positive integer of base units, as a string or a bigint. ${conversionOf(price)}; baseUnits('0.01', 6) converts`,
    )
  }
  return list
}

export function toTerms({ upfront, extra = {}, ...standard }: SaleTerms): Terms {
  const { resource, description, mimeType, outputSchema } = standard
  const taken = Object.keys(extra).filter((key) => Object.hasOwn(schemeExtra, key))
  if (taken.length > 0) throw new SvcError('reserved_extra', `extra may not set ${taken.join(', ')}`)
  return {
    fields: asWire({ resource, description, mimeType, outputSchema }),
    extra: asWire({ ...extra, paymentFlow: upfront === true ? 'upfront' : undefined }),
  }
}

// The value as JSON carries it and the payer echoes it: no undefined fields, dates as strings.
const asWire = (value: Json.JsonObject): Json.JsonObject => JSON.parse(JSON.stringify(value))
