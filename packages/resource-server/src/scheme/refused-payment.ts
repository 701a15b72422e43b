/** What a scheme does when a payment was refused: the spent offer is replaced, and the reason said in words. */
import { Json } from '@svc-zerc20/protocol'
import type { SchemePaymentRequiredContext, VerifyResultContext } from '@x402/core/server'
import { facilitatorFailure } from '../facilitator/client.js'
import { errorText } from '../refusal.js'
import { visits } from '../visits/visit.js'
import type { RequestOffers } from './request-offers.js'

export function createRefusedPayment(requestOffers: RequestOffers) {
  return {
    /** The usual place: the facilitator said no, and the middleware is about to write the 402. */
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
      await requestOffers.replaceEchoes(request)
    },
    /** The last place before a 402 leaves, and the only one for refusals that verify never heard of. */
    async enrichPaymentRequiredResponse(context: SchemePaymentRequiredContext): Promise<void> {
      const { error, requirements, paymentRequiredResponse, transportContext } = context
      if (error === undefined) return
      const request = requestOf(transportContext)
      if (requestOffers.hasEcho(request, requirements)) {
        // What is shown here is a copy that may not be changed. The middleware makes another one upon an error.
        if (await requestOffers.replaceEchoes(request)) throw new Error(error)
        throw facilitatorFailure('the payment was refused, and its offer could not be replaced')
      }
      const refusal = requestOffers.refusalOf(request)
      paymentRequiredResponse.error = errorText(refusal?.reason === error ? refusal : { reason: error })
    },
  }
}

const requestOf = (transportContext: unknown): unknown =>
  Json.isObject(transportContext) ? transportContext.request : undefined
