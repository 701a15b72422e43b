/** Refuses requests for what their connection is, before anything is done for them. */
import type { Connections } from '@svc-zerc20/daemon'
import { reject } from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sendRefusal } from './problem.js'

/** To be called before routes are registered. */
export function refuseConnections(
  app: FastifyInstance,
  deps: {
    readonly connections: Pick<Connections, 'refusalOf'>
    /** Whether the caller is served although strangers are turned away. */
    readonly isKnown: (request: FastifyRequest) => boolean
  },
): void {
  app.addHook('onRequest', async (request, reply) => {
    const refusal = deps.connections.refusalOf(request.raw, () => deps.isKnown(request))
    if (refusal === undefined) return
    const rejection =
      refusal === 'overloaded'
        ? reject('overloaded')
        : reject('malformed_request', 'the request has several Host headers')
    reply.header('connection', 'close')
    return sendRefusal(reply, rejection)
  })
}
