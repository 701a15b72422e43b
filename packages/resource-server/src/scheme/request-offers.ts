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
  /** True when the payer echoed this offer with its payment. */
  readonly isEcho: boolean
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
  /** Replaces every echo that is not replaced yet. True when there was one. Never throws. */
  replaceEchoes(request: unknown): Promise<boolean>
  /** Whether one of these entries still has the address of an echoed offer. */
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
