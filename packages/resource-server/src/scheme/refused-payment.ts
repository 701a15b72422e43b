/** Hooks for a refused payment: they replace the spent offer and put the reason into words. */
import { Json } from '@svc-zerc20/protocol'
import type { SchemePaymentRequiredContext, VerifyResultContext } from '@x402/core/server'
import { facilitatorFailure } from '../facilitator/client.js'
import { errorText } from '../refusal.js'
import { visits } from '../visits/visit.js'
import type { RequestOffers } from './request-offers.js'

export function createRefusedPayment(requestOffers: RequestOffers) {
  return {
    /** Runs after verify. On a refusal the middleware writes the 402 next. */
    async onAfterVerify(context: VerifyResultContext): Promise<void> {
      const { result, paymentPayload, requirements, transportContext } = context
      if (result.isValid) return
      const request = requestOf(transportContext)
      const { burnTxHash } = paymentPayload.payload as Json.JsonObject
      const reason = result.invalidReason ?? 'invalid_payment'
      const challengeNonce = String(requirements.extra.challengeNonce)
      visits.getStore()?.noteRefused({ challengeNonce, payload: paymentPayload.payload }, reason)
      requestOffers.refuse(request, {
        reason,
        message: result.invalidMessage,
        transaction: typeof burnTxHash === 'string' ? burnTxHash : undefined,
      })
      await requestOffers.replaceSpent(request)
    },
    /** Runs last before a 402 is sent, and alone sees refusals that never got as far as verify. */
    async enrichPaymentRequiredResponse(context: SchemePaymentRequiredContext): Promise<void> {
      const { error, requirements, paymentRequiredResponse, transportContext } = context
      if (error === undefined) return
      const request = requestOf(transportContext)
      if (requestOffers.hasSpent(request, requirements)) {
        // The requirements here are a copy that must not be changed. An error makes the middleware build a new copy.
        if (await requestOffers.replaceSpent(request)) throw new Error(error)
        throw facilitatorFailure('the payment was refused, and its offer could not be replaced')
      }
      const refusal = requestOffers.refusalOf(request)
      paymentRequiredResponse.error = errorText(refusal?.reason === error ? refusal : { reason: error })
    },
  }
}

const requestOf = (transportContext: unknown): unknown =>
  Json.isObject(transportContext) ? transportContext.request : undefined
