/** Measures every answer: how long it took, and for what reason it refused. */
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../telemetry/metrics.js'
import { refusalOf } from './problem.js'

/** To be called before routes are registered. Paths without a route share one label: callers cannot make more. */
export function observeAnswers(app: FastifyInstance, metrics: Pick<Metrics, 'count' | 'observe'>): void {
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
