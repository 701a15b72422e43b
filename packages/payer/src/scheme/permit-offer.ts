/** Checks an offer before a permit is signed for it. */
import type { PayableOffer, PermitOffer } from '../offer/payable-offer.js'
import { PayerError } from '../payer-error.js'
import { judgePermit } from '../policy/offer-rules.js'
import { assertPasses } from '../verdict.js'

/** Narrows an offer to the permit path. `helper-trust.ts` decides whether its helper can be trusted. */
export function checkPermitOffer(
  offer: PayableOffer,
  nowSeconds: number,
  signatureSecondsMax: number,
): PermitOffer {
  const { helper, deadline } = offer
  assertPasses(judgePermit(offer, { allowedHelpers: undefined }, nowSeconds, signatureSecondsMax))
  if (helper === undefined || deadline === undefined) throw new PayerError('permit_not_offered', 'no helper')
  return { ...offer, helper, deadline }
}
