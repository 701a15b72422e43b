/**
 * The offers of one HTTP request. A paid request is matched against the echo it brought; when that payment is
 * refused, the echo is spent, and the 402 must show a new offer in its place.
 */
import type { PaymentRequirements } from '@x402/core/types'
import type { Refusal } from '../refusal.js'
import { visits } from '../visits/visit.js'

export type RequestOffer = {
  /** What the request is matched against. */
  readonly offer: PaymentRequirements
  /** True when it came back with a payment. */
  readonly isEcho: boolean
  /** Another offer for the same thing. */
  readonly reissue: () => Promise<PaymentRequirements>
  /** What is shown when there can be no other: nobody can pay it. */
  readonly dead: PaymentRequirements
  /** The object the middleware makes its answers from. */
  shown?: PaymentRequirements
  isReplaced?: boolean
}

export type RequestOffers = {
  note(request: object, offer: RequestOffer): void
  /** Keeps why the payment of this request was refused. */
  refuse(request: unknown, refusal: Refusal): void
  refusalOf(request: unknown): Refusal | undefined
  /** Replaces every echo that was not replaced yet; true when there was one. Never throws. */
  replaceEchoes(request: unknown): Promise<boolean>
  /** Whether these entries still ask for a payment to an address of an echo. */
  hasEcho(request: unknown, accepts: readonly Pick<PaymentRequirements, 'payTo'>[]): boolean
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
    async replaceEchoes(request) {
      const known = find(request)
      const echoes = known?.offers.filter(({ isEcho, isReplaced }) => isEcho && !isReplaced) ?? []
      for (const echo of echoes) {
        echo.isReplaced = true
        const fresh = await echo.reissue().catch((failure: unknown) => {
          const visit = visits.getStore()
          if (visit !== undefined) visit.offerFailure = failure
          return echo.dead
        })
        if (echo.shown !== undefined) replaceContent(echo.shown, fresh)
      }
      return echoes.length > 0
    },
    hasEcho(request, accepts) {
      const used = find(request)?.offers.filter(({ isEcho }) => isEcho) ?? []
      return accepts.some(({ payTo }) => used.some(({ offer }) => offer.payTo === payTo))
    },
  }
}

function replaceContent(target: PaymentRequirements, source: PaymentRequirements): void {
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key)
  Object.assign(target, source, { extra: { ...source.extra } })
}
