/** Hooks around every request: before anything is done for it, and after its answer. To be called before routes are registered. */
import type { Connections } from '@svc-zerc20/daemon'
import { type ReasonCode, reasons, reject } from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '../telemetry/metrics.js'
import { refusalOf, sendRefusal } from './problem.js'

/** Refuses requests for what their connection is, before anything is done for them. */
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

/** The reasons that an operator has alerts for: the caller did nothing wrong, and is told to come back. */
const comeBackLater = (Object.keys(reasons) as ReasonCode[]).filter((reason) =>
  [429, 503].includes(reasons[reason].status),
)

/**
 * Measures every answer: how long it took, and for what reason it refused. Paths without a route share one label: callers
 * cannot make more.
 */
export function observeAnswers(app: FastifyInstance, metrics: Pick<Metrics, 'count' | 'observe'>): void {
  // An alert on an increase needs the value before the first one.
  for (const endpoint of ['/challenge', '/verify', '/settle']) {
    for (const reason of comeBackLater) metrics.count('svc_refusals_total', { endpoint, reason }, 0)
  }
  app.addHook('onResponse', async (request, reply) => {
    const endpoint = request.routeOptions.url ?? 'unknown'
    metrics.observe('svc_http_request_duration_seconds', reply.elapsedTime / 1000, {
      endpoint,
      status: `${reply.statusCode}`,
    })
    const reason = refusalOf(reply)
    if (reason) metrics.count('svc_refusals_total', { endpoint, reason })
  })
}
