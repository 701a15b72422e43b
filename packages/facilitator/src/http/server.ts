/** The HTTP server: limits on what comes in, and one shape for everything that goes wrong. */
import type { Socket } from 'node:net'
import { type ConnectionBounds, timeoutsOf } from '@svc-zerc20/daemon'
import { errorRow, type ReasonCode, reject, SvcError } from '@svc-zerc20/protocol'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/events.js'
import { type Refusal, sendRefusal } from './problem.js'

/** The guard of everything beneath a path, such as `/admin`. */
export type PathGuard = {
  readonly path: string
  /** Why the request is turned away. Undefined when it may pass. */
  refusalOf(request: FastifyRequest): Promise<Refusal | undefined>
}

export function createServer(deps: {
  chainId: number
  trustedProxies: string | string[] | undefined
  bodyBytesMax: number
  connections: ConnectionBounds
  log: Log
  /**
   * Asked about requests beneath a path that reach no route. The guard of `/` counts them: they cost something, too.
   */
  guards?: readonly PathGuard[]
  /** Whether another daemon is active for the ledger. */
  isStandby?: () => boolean
}): FastifyInstance {
  const { chainId, log, guards = [], isStandby = () => false } = deps
  const methodsAt = new Map<RegExp, string[]>()
  const app: FastifyInstance = Fastify({
    logger: false,
    bodyLimit: deps.bodyBytesMax,
    ...timeoutsOf(deps.connections),
    trustProxy: deps.trustedProxies ?? false,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: answerClientError,
    // Paths that reach no route: broken percent-encoding, or a parameter longer than any nonce.
    frameworkErrors: async (error, request, reply) => {
      const closed = await refusalOf(request).catch(() => reject('internal_error'))
      const reason = error.code === 'FST_ERR_BAD_URL' ? 'malformed_request' : 'not_found'
      sendRefusal(reply, closed ?? reject(reason))
    },
  })
  app.setReplySerializer(toJson)
  app.decorate('chainId', chainId)
  app.decorate('isStandby', isStandby)
  decorateAnswers(app)
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}/?$`)
    methodsAt.set(pattern, [method].flat())
  })
  // Before a body is read, as with the routes that have a guard.
  app.addHook('onRequest', async (request, reply) => {
    const closed = request.is404 ? await refusalOf(request) : undefined
    return closed && sendRefusal(reply, closed)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request)
    const allowed = [...methodsAt].flatMap(([pattern, methods]) => (pattern.test(path) ? methods : []))
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    return sendRefusal(reply, reject(allowed.length > 0 ? 'method_not_allowed' : 'not_found'))
  })
  app.removeContentTypeParser('text/plain')

  const refusalOf = async (request: FastifyRequest) => guardOf(request, guards)?.refusalOf(request)

  app.setErrorHandler((error: FastifyError | SvcError, request, reply) => {
    const reason = reasonOf(error)
    if (reason === 'internal_error' || reason === 'chain_unavailable') {
      log({ event: 'request.failed', route: request.routeOptions.url ?? 'unknown', err: error })
    }
    // The operator is told which daemon to ask.
    const isForOperator = error.code === 'lease_lost' && request.url.startsWith('/admin/')
    const isTold = reason === 'malformed_request' || isForOperator
    return sendRefusal(reply, reject(reason, isTold ? error.message : undefined))
  })
  return app
}

/** Amounts are decimal strings: no reader of JSON has numbers for all of them. */
export const toJson = (answer: unknown): string =>
  JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value))

const guardOf = (request: FastifyRequest, guards: readonly PathGuard[]) => {
  const path = pathOf(request)
  return guards.find(
    (guard) =>
      guard.path === '/' || (path.startsWith(guard.path) && !/^[\w-]/.test(path.slice(guard.path.length))),
  )
}

/** Without its query, and decoded as the router does. */
function pathOf({ url }: FastifyRequest): string {
  const path = url.split('?')[0] ?? url
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * No route has a JSON schema: bodies are parsed by the protocol. Without its own compilers, Fastify loads those of
 * Ajv at every start.
 */
function noSchemas(): never {
  throw new SvcError('invariant', 'a route has a schema')
}

/**
 * No answer is for a cache. A connection that is busy when the server closes would otherwise stay open for its keep-alive
 * time.
 */
function decorateAnswers(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    if (isClosing) reply.header('connection', 'close')
  })
}

const reasonByFastifyCode: Record<string, ReasonCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
}

function reasonOf(error: FastifyError | SvcError): ReasonCode {
  if (error instanceof SvcError) return errorRow(error.code)?.reason ?? 'internal_error'
  const known = reasonByFastifyCode[error.code]
  if (known) return known
  const { statusCode } = error
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? 'malformed_request'
    : 'internal_error'
}

/** Everything else the parser refuses is a plain 400. */
const statusByCode: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Answers bytes that are not an HTTP request: there is no request to reply to, only a socket. */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // The caller is gone and would not hear an answer.
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { reason, message } = reject('malformed_request', 'this is no HTTP request the server can read')
  const body = JSON.stringify({ error: message, reason })
  const status = statusByCode[error.code ?? ''] ?? '400 Bad Request'
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}
