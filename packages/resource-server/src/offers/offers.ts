/** Offers of one seller: issued with a seal, restored from an echo, or dead. Stores nothing between requests. */
import {
  type BaseUnits,
  type Clock,
  Json,
  type Network,
  Offer,
  parseAddress,
  type TokenLabel,
  zeroAddress,
} from '@svc-zerc20/protocol'
import type { PaymentRequirements } from '@x402/core/types'
import { type Facilitator, facilitatorFailure, type OnProblem } from '../facilitator/client.js'
import type { Bound, Seal } from './seal.js'
import { knownKeys, type Terms } from './terms.js'

export type Offers = {
  /** A fresh sealed offer: exactly one `POST /challenge`. */
  issue(bound: Bound, terms: Terms): Promise<PaymentRequirements>
  /**
   * The echoed offer if we sealed it for this resource, and the list price of then. Keys that a payer added are
   * ignored, at every depth: the matching rule allows them. At the top level the official match wants them back.
   * From here on the payment counts as seen.
   */
  unseal(payment: Presented, resource: string, terms: Terms): Unsealed | undefined
  /** The echoed offer if we sealed it for this resource at this price or a higher one, else undefined. */
  restore(payment: Presented, bound: Bound, terms: Terms): PaymentRequirements | undefined
  /** What the token says of itself, once the facilitator has told it with a challenge. */
  tokenLabel(): TokenLabel | undefined
  /** Whether the echoed offer is for our scheme and network. */
  isForUs(echoed: unknown): boolean
  /** An entry that nobody can pay. Used where an entry is required but a challenge would be wasted. */
  dead(bound: Bound): PaymentRequirements
}

/** A payment as it came from a stranger: the offer that it echoes, and the scheme's payload. */
export type Presented = { readonly accepted?: unknown; readonly payload?: unknown }

export type Unsealed = { readonly offer: PaymentRequirements; readonly list: BaseUnits }

export type OffersDeps = {
  readonly network: Network.Network
  readonly token: string
  readonly facilitator: Pick<Facilitator, 'challenge'>
  readonly seal: Seal
  readonly clock: Clock
  readonly onProblem: OnProblem
}

const zeroNonce = `0x${'0'.repeat(64)}`

export function createOffers(deps: OffersDeps): Offers {
  const { network, token, facilitator, seal, clock, onProblem } = deps
  let tokenLabel: TokenLabel | undefined
  const isForUs = (echoed: unknown): echoed is Json.JsonObject =>
    Json.isObject(echoed) && echoed.scheme === Offer.scheme && echoed.network === network
  const isOurToken = (asset: unknown) => parseAddress(asset) === parseAddress(token)

  function mistakeIn(offer: Offer.PaymentRequirements, { list }: Bound): string | undefined {
    if (offer.network !== network) {
      return `the facilitator is on ${offer.network}, this seller sells on ${network}`
    }
    if (!isOurToken(offer.asset)) {
      return `the facilitator takes the token ${offer.asset}, this seller sells for ${token}`
    }
    const fee = offer.extra.fee?.amount ?? '0'
    if (BigInt(offer.amount) === list + BigInt(fee)) return undefined
    return `the challenge asks for ${offer.amount}, which is not the list price ${list} and its fee ${fee}`
  }

  function unseal({ accepted: echoed }: Presented, resource: string, terms: Terms) {
    if (!isForUs(echoed) || !isOurToken(echoed.asset)) return undefined
    // Try the echo unchanged first: the seller may have changed its terms since it made the offer.
    for (const own of [echoed, keepKnown(echoed, knownKeys(terms)) as Json.JsonObject]) {
      const list = seal.listPrice(own, resource)
      if (list === undefined) continue
      const extra = Object.entries(echoed.extra as Json.JsonObject).filter(([key]) => hasKey(own.extra, key))
      return {
        list,
        offer: { ...echoed, extra: Object.fromEntries(extra) } as unknown as PaymentRequirements,
      }
    }
    return undefined
  }

  return {
    isForUs,
    tokenLabel: () => tokenLabel,
    async issue(bound, { fields, extra }) {
      const challenge = await facilitator.challenge(bound.list.toString())
      const offer = Offer.fromChallenge(challenge, clock.now() / 1000)
      const mistake = mistakeIn(offer, bound)
      if (mistake !== undefined) {
        const failure = facilitatorFailure(mistake)
        onProblem(failure)
        throw failure
      }
      tokenLabel = challenge.tokenLabel ?? tokenLabel
      return seal.sign({ ...offer, network, ...fields, extra: { ...offer.extra, ...extra } }, bound)
    },
    unseal,
    restore(payment, { resource, list }, terms) {
      const unsealed = unseal(payment, resource, terms)
      // An offer stays valid when the price falls and is refused when the price rises. Only the facilitator judges
      // expiry, because a burn presented in time may be confirmed after the offer expired.
      return unsealed !== undefined && unsealed.list >= list ? unsealed.offer : undefined
    },
    dead({ list }) {
      return {
        scheme: Offer.scheme,
        network,
        asset: token,
        amount: list.toString(),
        payTo: zeroAddress,
        maxTimeoutSeconds: 1,
        extra: { challengeNonce: zeroNonce, expiresAt: 0 },
      }
    },
  }
}

const hasKey = (value: unknown, key: string) => Json.isObject(value) && Object.hasOwn(value, key)

/** The value without the keys that `known` lacks. Its depth is bounded by that of `known`. */
function keepKnown(value: unknown, known: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(known)) return value.map((item, i) => keepKnown(item, known[i]))
  if (!Json.isObject(value) || !Json.isObject(known)) return value
  const kept = Object.entries(value).filter(([key]) => Object.hasOwn(known, key))
  return Object.fromEntries(kept.map(([key, item]) => [key, keepKnown(item, known[key])]))
}
