/** Measures every answer: how long it took, and for what reason it refused. */
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../telemetry/metrics.js'
import type { Admission } from './admission.js'
import { refusalOf } from './problem.js'
import type { RefusedBooks } from './refused.js'

/** To be called before routes are registered. Paths without a route share one label: callers cannot make more. */
export function observeAnswers(
  app: FastifyInstance,
  {
    metrics,
    refused,
    admission,
  }: {
    readonly metrics: Pick<Metrics, 'count' | 'observe'>
    readonly refused: Pick<RefusedBooks, 'saw'>
    readonly admission: Pick<Admission, 'nameOf' | 'isSeller'>
  },
): void {
  app.addHook('onResponse', async (request, reply) => {
    const endpoint = request.routeOptions.url ?? 'unknown'
    metrics.observe('svc_http_request_duration_seconds', reply.elapsedTime / 1000, {
      endpoint,
      status: `${reply.statusCode}`,
    })
    const reason = refusalOf(reply)
    if (!reason) return
    metrics.count('svc_refusals_total', { endpoint, reason })
    refused.saw({
      caller: admission.nameOf(request),
      isSeller: admission.isSeller(request),
      endpoint,
      reason,
    })
  })
}
