/** Offers of one seller: issued sealed, restored from an echo, or dead. Keeps nothing between requests. */
import { type Clock, Json, type Network, Offer, parseAddress, zeroAddress } from '@svc-zerc20/protocol'
import type { PaymentRequirements } from '@x402/core/types'
import { type Facilitator, facilitatorFailure, type OnProblem } from '../facilitator/client.js'
import type { Bound, Seal } from './seal.js'
import { reservedExtra, type Terms } from './terms.js'

export type Offers = {
  /** A fresh sealed offer: exactly one `POST /challenge`. */
  issue(bound: Bound, terms: Terms): Promise<PaymentRequirements>
  /**
   * The echoed offer when it is ours for this resource at this price or more, else undefined. Fields that a
   * payer added to `extra` are left out: the matching rule allows them, and they mean nothing to us.
   */
  restore(echoed: unknown, bound: Bound, terms: Terms): PaymentRequirements | undefined
  /** Whether a payer that echoes this pays with our scheme on our network. */
  isForUs(echoed: unknown): boolean
  /** An entry nobody can pay, for a request that pays another entry: it costs no challenge. */
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
      // As it came, first: the seller may have changed its terms since it was offered.
      for (const offered of [echoed, withoutForeignExtra(echoed, terms)]) {
        const sealedList = seal.listPrice(offered, resource)
        // A quote stands when the price falls, and is refused when it rises. Expiry is not judged here: a burn
        // can outlive its offer, and only the facilitator knows.
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
