/** Rejections → HTTP answers. Answers of verify and settle keep their shape whatever went wrong. */
import { type FacilitatorApi, Network, type ReasonCode, type Rejection, reasons } from '@svc-zerc20/protocol'
import type { FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    readonly chainId: number
    /** Another daemon is active for the ledger. */
    isStandby(): boolean
  }
}

/** A rejection, and the seconds after which asking again may help. */
export type Refusal = Rejection & { readonly retryAfter?: number }

const retryAfterSeconds = 5
/** A daemon that ends hands over at once. */
const standbyRetrySeconds = 1

/** The reason of each refusal, for the metrics. */
const refusals = new WeakMap<FastifyReply, ReasonCode>()

/** The reason an answer was given, when it is a refusal. */
export const refusalOf = (reply: FastifyReply): ReasonCode | undefined => refusals.get(reply)

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  if (reasons[refusal.reason].status === 401) reply.header('www-authenticate', 'Bearer')
  return withStatus(reply, refusal.reason, refusal.retryAfter).send(bodyOf(refusal, reply))
}

/** The status of an answer, and how long to wait where waiting helps. */
export function withStatus(
  reply: FastifyReply,
  reason: ReasonCode | undefined,
  retryAfter: number = reason === 'standby' ? standbyRetrySeconds : retryAfterSeconds,
): FastifyReply {
  const status = reason === undefined ? 200 : reasons[reason].status
  if (reason !== undefined) refusals.set(reply, reason)
  if (status === 429 || status === 503) reply.header('retry-after', retryAfter)
  return reply.code(status)
}

function bodyOf({ reason, message }: Refusal, { request, server }: FastifyReply): object {
  switch (request.routeOptions.url) {
    case '/verify':
      return {
        isValid: false,
        invalidReason: reason,
        invalidMessage: message,
      } satisfies FacilitatorApi.VerifyResponse
    case '/settle':
      return {
        success: false,
        errorReason: reason,
        errorMessage: message,
        transaction: '',
        network: Network.format(server.chainId),
      } satisfies FacilitatorApi.SettleResponse
    default:
      return { error: message, reason }
  }
}
