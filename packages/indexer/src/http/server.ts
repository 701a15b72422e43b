/** The HTTP server: limits on what comes in, plain text for everything that goes wrong. */
import { type ConnectionBounds, limitConnections, timeoutsOf } from '@svc-zerc20/daemon'
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import type { Log } from '../events.js'
import { limits } from '../limits.js'

/** A request that cannot be answered; the text is the whole body. */
export class RequestError extends Error {
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.name = 'RequestError'
    this.statusCode = statusCode
  }
}

/**
 * Creates a server without routes. Any web page may read its answers: all of them are public on the chain.
 */
export function createServer({
  log,
  bounds = limits.connections,
}: {
  log: Log
  bounds?: ConnectionBounds
}): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    ...timeoutsOf(bounds),
    forceCloseConnections: true,
  })
  const connections = limitConnections(app.server, bounds)
  app.removeContentTypeParser('text/plain')

  app.addHook('onRequest', async (request, reply) => {
    reply.header('access-control-allow-origin', '*')
    const refusal = connections.refusalOf(request.raw)
    if (refusal) reply.header('connection', 'close')
    if (refusal === 'several_hosts') throw new RequestError(400, 'several Host headers')
    if (refusal === 'overloaded') {
      reply.header('retry-after', limits.retryAfterSeconds)
      return reply.code(503).type(plainText).send('too many connections')
    }
    if (request.method !== 'OPTIONS') return
    return reply
      .header('access-control-allow-methods', 'GET, POST')
      .header('access-control-allow-headers', 'content-type')
      .code(204)
      .send()
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).type(plainText).send('not found'))
  app.setErrorHandler((error: FastifyError | RequestError, request, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500) return reply.code(statusCode).type(plainText).send(error.message)
    log({ event: 'request.failed', route: request.routeOptions.url ?? 'unknown', err: error })
    return reply.code(500).type(plainText).send('internal error')
  })
  return app
}

const plainText = 'text/plain; charset=utf-8'
