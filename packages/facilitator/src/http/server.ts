/** The HTTP server: limits on what comes in, and one shape for everything that goes wrong. */
import { type ConnectionBounds, timeoutsOf } from '@svc-zerc20/daemon'
import { type ReasonCode, type Rejection, reject, SvcError } from '@svc-zerc20/protocol'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/events.js'
import { answerClientError } from './client-error.js'
import { sendRejection, sendTooMany, surfaceOf } from './problem.js'
import type { Taken } from './rate-limit.js'
import { answerUnrouted } from './routes.js'

/** The guard of everything beneath a path, such as `/admin`. */
export type PathGuard = {
  readonly path: string
  /** Why the request is turned away. Undefined when it may pass. */
  refusalOf(request: FastifyRequest): Promise<Rejection | undefined>
}

export function createServer(deps: {
  chainId: number
  trustedProxies: string | string[] | undefined
  bodyBytesMax: number
  connections: ConnectionBounds
  log: Log
  /** Asked about paths beneath a guarded one that no route can take; the routes there have their own guard. */
  guards?: readonly PathGuard[]
  /** Takes a request that reaches no route from its caller's rate. */
  takeUnrouted?: (request: FastifyRequest) => Promise<Taken>
}): FastifyInstance {
  const { chainId, log, takeUnrouted } = deps
  const app = Fastify({
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
      const closed = await guardOf(request, deps.guards)
        ?.refusalOf(request)
        .catch(() => reject('internal_error'))
      if (closed) reply.header('www-authenticate', 'Bearer')
      const taken = closed ? 'ok' : await takeUnrouted?.(request).catch(() => 'ok' as const)
      if (taken && taken !== 'ok') return void sendTooMany(reply, taken, { surface: 'plain', chainId })
      const reason = error.code === 'FST_ERR_BAD_URL' ? 'malformed_request' : 'not_found'
      sendRejection(reply, closed ?? reject(reason), { surface: 'plain', chainId })
    },
  })
  closeAfterAnswers(app)
  app.setNotFoundHandler(answerUnrouted(app, { chainId, takeUnrouted }))
  app.removeContentTypeParser('text/plain')

  app.setErrorHandler((error: FastifyError | SvcError, request, reply) => {
    const reason = reasonOf(error)
    if (reason === 'internal_error' || reason === 'chain_unavailable') {
      log({ event: 'request.failed', route: request.routeOptions.url ?? 'unknown', err: error })
    }
    const message = reason === 'malformed_request' ? error.message : undefined
    return sendRejection(reply, reject(reason, message), { surface: surfaceOf(request), chainId })
  })
  return app
}

const guardOf = ({ url }: FastifyRequest, guards: readonly PathGuard[] = []) =>
  guards.find(({ path }) => url.startsWith(path) && !/^[\w-]/.test(url.slice(path.length)))

/**
 * No route has a JSON schema: bodies are parsed by the protocol. Without compilers of its own, Fastify loads those of
 * Ajv at every start.
 */
function noSchemas(): never {
  throw new SvcError('invariant', 'a route has a schema')
}

/** A connection that is busy when the server closes would otherwise stay open for its keep-alive time. */
function closeAfterAnswers(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close')
  })
}

/** Failures of the world that the caller may know by name; any other is a defect of ours. */
const reasonByError: Record<string, ReasonCode> = {
  rpc_unreachable: 'chain_unavailable',
  rpc_error: 'chain_unavailable',
  wrong_chain: 'chain_unavailable',
  journal_failed: 'storage_unavailable',
}

const reasonByFastifyCode: Record<string, ReasonCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
}

function reasonOf(error: FastifyError | SvcError): ReasonCode {
  if (error instanceof SvcError) return reasonByError[error.code] ?? 'internal_error'
  const known = reasonByFastifyCode[error.code]
  if (known) return known
  const { statusCode } = error
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? 'malformed_request'
    : 'internal_error'
}
