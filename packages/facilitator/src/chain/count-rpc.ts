/** Counts the calls to the node, for the metrics. */
import { type JsonRpc, resultOf } from '@svc-zerc20/evm'
import type { Metrics } from '../telemetry/metrics.js'

export function countRpc(rpc: JsonRpc, metrics: Pick<Metrics, 'count' | 'observe'>): JsonRpc {
  const batch: JsonRpc['batch'] = async (calls) => {
    if (calls.length === 0) return []
    for (const { method } of calls) metrics.count('svc_rpc_calls_total', { method })
    const startedAtMs = performance.now()
    try {
      const answers = await rpc.batch(calls)
      metrics.observe('svc_rpc_round_trip_seconds', (performance.now() - startedAtMs) / 1000)
      return answers
    } catch (error) {
      metrics.count('svc_rpc_failures_total')
      throw error
    }
  }
  return {
    batch,
    async call(method, params) {
      const [answer] = await batch([{ method, params }])
      return resultOf(method, answer)
    },
    close: rpc.close,
  }
}
