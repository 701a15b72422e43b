/** Offers of one seller: issued with a seal, restored from an echo, or dead. Stores nothing between requests. */
import { type Clock, Json, type Network, Offer, parseAddress, zeroAddress } from '@svc-zerc20/protocol'
import type { PaymentRequirements } from '@x402/core/types'
import { type Facilitator, facilitatorFailure, type OnProblem } from '../facilitator/client.js'
import type { Bound, Seal } from './seal.js'
import { reservedExtra, type Terms } from './terms.js'

export type Offers = {
  /** A fresh sealed offer: exactly one `POST /challenge`. */
  issue(bound: Bound, terms: Terms): Promise<PaymentRequirements>
  /**
   * The echoed offer if we sealed it for this resource at this price or a higher one, else undefined. Fields that a
   * payer added to `extra` are removed: the matching rule allows them, and we give them no meaning.
   */
  restore(echoed: unknown, bound: Bound, terms: Terms): PaymentRequirements | undefined
  /** Whether the echoed offer is for our scheme and network. */
  isForUs(echoed: unknown): boolean
  /** An entry that nobody can pay. Used where an entry is required but a challenge would be wasted. */
  dead(bound: Bound): PaymentRequirements
}

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

  return {
    isForUs,
    async issue(bound, { fields, extra }) {
      const challenge = await facilitator.challenge(bound.list.toString())
      const offer = Offer.fromChallenge(challenge, clock.now() / 1000)
      const mistake = mistakeIn(offer, bound)
      if (mistake !== undefined) {
        const failure = facilitatorFailure(mistake)
        onProblem(failure)
        throw failure
      }
      return seal.sign({ ...offer, network, ...fields, extra: { ...offer.extra, ...extra } }, bound)
    },
    restore(echoed, { resource, list }, terms) {
      if (!isForUs(echoed) || !isOurToken(echoed.asset)) return undefined
      // Try the echo unchanged first: the seller may have changed its terms since it made the offer.
      for (const offered of [echoed, withoutForeignExtra(echoed, terms)]) {
        const sealedList = seal.listPrice(offered, resource)
        // An offer stays valid when the price falls and is refused when the price rises. Only the facilitator judges
        // expiry, because a burn presented in time may be confirmed after the offer expired.
        if (sealedList !== undefined && sealedList >= list) return offered as unknown as PaymentRequirements
      }
      return undefined
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

function withoutForeignExtra(echoed: Json.JsonObject, terms: Terms): Json.JsonObject {
  if (!Json.isObject(echoed.extra)) return echoed
  const own = Object.entries(echoed.extra).filter(
    ([key]) => reservedExtra.includes(key) || Object.hasOwn(terms.extra, key),
  )
  return { ...echoed, extra: Object.fromEntries(own) }
}
