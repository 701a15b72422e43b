/** Rejections → HTTP answers. Answers of verify and settle keep their shape whatever went wrong. */
import {
  type FacilitatorApi,
  Network,
  type ReasonCode,
  type Rejection,
  reasons,
  reject,
} from '@svc-zerc20/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Taken } from './rate-limit.js'

export type Surface = 'verify' | 'settle' | 'plain'

export function surfaceOf({ routeOptions: { url } }: FastifyRequest): Surface {
  if (url === '/verify') return 'verify'
  return url === '/settle' ? 'settle' : 'plain'
}

const retryAfterSeconds = 5

/** The reason of each refusal, for the metrics. */
const refusals = new WeakMap<FastifyReply, ReasonCode>()

/** The reason an answer was given, when it is a refusal. */
export const refusalOf = (reply: FastifyReply): ReasonCode | undefined => refusals.get(reply)

export function sendRejection(
  reply: FastifyReply,
  rejection: Rejection,
  { surface, chainId, retryAfter }: { surface: Surface; chainId: number; retryAfter?: number },
): FastifyReply {
  return withStatus(reply, rejection.reason, retryAfter).send(bodyOf(rejection, surface, chainId))
}

/** A caller whose rate is used up. */
export const sendTooMany = (
  reply: FastifyReply,
  { retryAfterSeconds: retryAfter }: Exclude<Taken, 'ok'>,
  at: { surface: Surface; chainId: number },
): FastifyReply => sendRejection(reply, reject('too_many_requests'), { ...at, retryAfter })

/** The status of an answer, and how long to wait where waiting helps. */
export function withStatus(
  reply: FastifyReply,
  reason: ReasonCode | undefined,
  retryAfter: number = retryAfterSeconds,
): FastifyReply {
  const status = reason === undefined ? 200 : reasons[reason].status
  if (reason !== undefined) refusals.set(reply, reason)
  if (status === 429 || status === 503) reply.header('retry-after', retryAfter)
  return reply.code(status)
}

function bodyOf({ reason, message }: Rejection, surface: Surface, chainId: number): object {
  switch (surface) {
    case 'verify':
      return {
        isValid: false,
        invalidReason: reason,
        invalidMessage: message,
      } satisfies FacilitatorApi.VerifyResponse
    case 'settle':
      return {
        success: false,
        errorReason: reason,
        errorMessage: message,
        transaction: '',
        network: Network.format(chainId),
      } satisfies FacilitatorApi.SettleResponse
    case 'plain':
      return { error: message, reason }
  }
}
