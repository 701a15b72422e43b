/**
 * The seal ties an offer to this seller, one resource and one list price. The facilitator issues challenges to anybody
 * and knows no routes, so without a seal a genuine cheap offer would buy an expensive resource. The seal covers every
 * field of the offer, unknown ones included: any change makes it invalid. The sealed offer is the resource server's
 * only memory of what it offered.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type BaseUnits, Json, parseAmount, SvcError } from '@svc-zerc20/protocol'
import { secretBytesMin } from '../limits.js'

export type SealSecret = string | Uint8Array
/** The first secret signs; all verify. To rotate, put the new secret first and drop the old one after its last offer. */
export type SealSecrets = SealSecret | readonly SealSecret[]

export type Seal = {
  /** The offer with `extra.seal` added. */
  sign<Offer extends Sealable>(offer: Offer, bound: Bound): Offer
  /** The list price in a valid seal for this resource, or undefined when there is no valid seal. */
  listPrice(echoed: Json.JsonObject, resource: string): BaseUnits | undefined
}

/** The seal binds an offer to a resource, such as `GET /report`, and to a list price in base units. */
export type Bound = { readonly resource: string; readonly list: BaseUnits }

type Sealable = Json.JsonObject & { readonly extra: Json.JsonObject }

const domain = 'svc-zerc20/offer/1'
const sealPattern = /^(\d{1,78})\.([A-Za-z0-9_-]{43})$/

export function createSeal(secrets: SealSecrets): Seal {
  const keys = toKeys(secrets)
  const signingKey = keys[0]
  const mac = (key: Uint8Array, offer: Json.JsonObject, { resource, list }: Bound) =>
    createHmac('sha256', key)
      .update(canonical([domain, resource, list.toString(), unsealed(offer)]))
      .digest()

  return {
    sign(offer, bound) {
      const seal = `${bound.list}.${mac(signingKey, offer, bound).toString('base64url')}`
      return { ...offer, extra: { ...offer.extra, seal } }
    },
    listPrice(echoed, resource) {
      const seal = Json.isObject(echoed.extra) ? echoed.extra.seal : undefined
      const [, listText, macText] = typeof seal === 'string' ? (sealPattern.exec(seal) ?? []) : []
      const list = parseAmount(listText)
      // The echo comes from a stranger, so its nesting is bounded before it is walked.
      if (list === undefined || macText === undefined || !Json.nestsWithin(echoed)) return undefined
      const claimed = Buffer.from(macText, 'base64url')
      const ours = keys.some((key) => timingSafeEqual(mac(key, echoed, { resource, list }), claimed))
      return ours ? list : undefined
    },
  }
}

function toKeys(secrets: SealSecrets): [Uint8Array, ...Uint8Array[]] {
  // A seller often passes a variable of its environment unread, so what the type excludes is named too.
  const [first, ...rest] = [secrets].flat().map((secret) => Buffer.from(secret ?? ''))
  if (first === undefined || [first, ...rest].some((key) => key.length === 0)) {
    throw new SvcError('seal_secret_missing', 'no seal secret was given, or an empty one: set `secret`')
  }
  for (const key of [first, ...rest]) {
    if (key.length >= secretBytesMin) continue
    throw new SvcError(
      'seal_secret_too_short',
      `a seal secret needs at least ${secretBytesMin} bytes, this one has ${key.length}`,
    )
  }
  return [first, ...rest]
}

function unsealed(offer: Json.JsonObject): Json.JsonObject {
  if (!Json.isObject(offer.extra)) return offer
  const { seal: _, ...extra } = offer.extra
  return { ...offer, extra }
}

// JSON keys may come back in any order, so they are sorted at every depth before the bytes are signed.
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!Json.isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
  return `{${fields.join(',')}}`
}
