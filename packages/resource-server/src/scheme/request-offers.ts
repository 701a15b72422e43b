/**
 * The offers of one HTTP request. A paid request is matched against the offer that it echoes. When that payment is
 * refused, the echoed offer is spent, and the 402 must show a new one instead.
 */
import type { PaymentRequirements } from '@x402/core/types'
import type { Refusal } from '../refusal.js'
import { visits } from '../visits/visit.js'

export type RequestOffer = {
  /** The offer that the request is matched against. */
  readonly offer: PaymentRequirements
  /** True when the payer echoed this offer with its payment, or pays something else: no 402 may show it. */
  readonly isSpent: boolean
  /** Issues a fresh offer for the same resource. */
  readonly reissue: () => Promise<PaymentRequirements>
  /** An entry that nobody can pay, shown when no fresh offer can be issued. */
  readonly dead: PaymentRequirements
  /** The object that the middleware copies into its answers. */
  shown?: PaymentRequirements
  isReplaced?: boolean
}

export type RequestOffers = {
  note(request: object, offer: RequestOffer): void
  /** Stores why the payment of this request was refused. */
  refuse(request: unknown, refusal: Refusal): void
  refusalOf(request: unknown): Refusal | undefined
  /** Replaces every spent offer that is not replaced yet. True when there was one. Never throws. */
  replaceSpent(request: unknown): Promise<boolean>
  /** Whether one of these entries still has the address of a spent offer. */
  hasSpent(request: unknown, accepts: readonly Pick<PaymentRequirements, 'payTo'>[]): boolean
}

type Known = { readonly offers: RequestOffer[]; refusal?: Refusal }

export function createRequestOffers(): RequestOffers {
  const requests = new WeakMap<object, Known>()
  const find = (request: unknown) =>
    typeof request === 'object' && request !== null ? requests.get(request) : undefined

  return {
    note(request, offer) {
      const known = requests.get(request) ?? { offers: [] }
      known.offers.push(offer)
      requests.set(request, known)
    },
    refuse(request, refusal) {
      const known = find(request)
      if (known !== undefined) known.refusal = refusal
      const visit = visits.getStore()
      if (visit !== undefined) visit.refusal = refusal
    },
    refusalOf: (request) => find(request)?.refusal,
    async replaceSpent(request) {
      const known = find(request)
      const spent = known?.offers.filter(({ isSpent, isReplaced }) => isSpent && !isReplaced) ?? []
      for (const offer of spent) {
        offer.isReplaced = true
        const fresh = await offer.reissue().catch((failure: unknown) => {
          const visit = visits.getStore()
          if (visit !== undefined) visit.offerFailure = failure
          return offer.dead
        })
        if (offer.shown !== undefined) replaceContent(offer.shown, fresh)
      }
      return spent.length > 0
    },
    hasSpent(request, accepts) {
      const spent = find(request)?.offers.filter(({ isSpent }) => isSpent) ?? []
      const isShown = ({ offer, dead, isReplaced }: RequestOffer, payTo: string) =>
        offer.payTo === payTo && !(isReplaced && payTo === dead.payTo)
      return accepts.some(({ payTo }) => spent.some((offer) => isShown(offer, payTo)))
    },
  }
}

function replaceContent(target: PaymentRequirements, source: PaymentRequirements): void {
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key)
  Object.assign(target, source, { extra: { ...source.extra } })
}
