/** Which methods the registered routes take, by path: an unknown path and a wrong method are different mistakes. */
import { reject } from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendRejection, sendTooMany } from './problem.js'
import type { Taken } from './rate-limit.js'

/** To be called before the routes are registered. Gives the handler for requests that reach none of them. */
export function answerUnrouted(
  app: FastifyInstance,
  deps: {
    readonly chainId: number
    /** Takes a request from its caller's rate: these cost as much as others. Absent when that is done elsewhere. */
    readonly takeUnrouted?: ((request: FastifyRequest) => Promise<Taken>) | undefined
  },
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const at = { surface: 'plain', chainId: deps.chainId } as const
  const routes: { pattern: RegExp; method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}/?$`)
    for (const name of [method].flat()) routes.push({ pattern, method: name })
  })
  const methodsAt = (url: string) => {
    const path = url.split('?')[0] ?? url
    return routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  }
  return async (request, reply) => {
    const taken = await deps.takeUnrouted?.(request)
    if (taken && taken !== 'ok') return sendTooMany(reply, taken, at)
    const allowed = methodsAt(request.url)
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    const reason = allowed.length > 0 ? 'method_not_allowed' : 'not_found'
    return sendRejection(reply, reject(reason), at)
  }
}
