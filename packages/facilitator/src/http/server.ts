/** The HTTP server: limits on what comes in, and one shape for everything that goes wrong. */
import { type ReasonCode, reject, SvcError } from '@svc-zerc20/protocol'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/events.js'
import { type Surface, sendRejection } from './problem.js'

export function createServer(deps: {
  chainId: number
  trustedProxies: string | string[] | undefined
  bodyBytesMax: number
  requestTimeoutMs: number
  log: Log
}): FastifyInstance {
  const { chainId, log } = deps
  const app = Fastify({
    logger: false,
    bodyLimit: deps.bodyBytesMax,
    requestTimeout: deps.requestTimeoutMs,
    // A caller that opens a connection and says nothing does not keep it.
    connectionTimeout: 0,
    keepAliveTimeout: 65_000,
    trustProxy: deps.trustedProxies ?? false,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  })
  app.removeContentTypeParser('text/plain')

  app.setNotFoundHandler((_request, reply) =>
    sendRejection(reply, reject('not_found'), { surface: 'plain', chainId }),
  )

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

const rpcFailures = new Set(['rpc_unreachable', 'rpc_error', 'wrong_chain'])

const reasonByFastifyCode: Record<string, ReasonCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
}

function reasonOf(error: FastifyError | SvcError): ReasonCode {
  if (error instanceof SvcError) return rpcFailures.has(error.code) ? 'chain_unavailable' : 'internal_error'
  const known = reasonByFastifyCode[error.code]
  if (known) return known
  const { statusCode } = error
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? 'malformed_request'
    : 'internal_error'
}

function surfaceOf(request: FastifyRequest): Surface {
  if (request.routeOptions.url === '/verify') return 'verify'
  return request.routeOptions.url === '/settle' ? 'settle' : 'plain'
}
