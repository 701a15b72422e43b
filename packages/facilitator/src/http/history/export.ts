/** The export: everything a participant may see, in one answer. It holds a snapshot, so its number and time are bounded. */
import type { Readable } from 'node:stream'
import { Network, reject, toChecksum, type UnixSeconds, unixSeconds } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { HistoryPayment } from '../../history/payment.js'
import { boundsOf, type SeenPayment, type Sight, seenBy } from '../../history/scopes.js'
import type { Clock } from '../../payment/ports.js'
import { guardedRoute, type HistoryApiDeps } from './door.js'
import { exportStream, exportTypes } from './export-stream.js'
import { filterOf } from './payments.js'
import * as schemas from './schemas.js'

const tooManyAtOnce = reject('too_many_requests', 'as many exports are under way as one participant may have')

export const exportRoutes = [
  guardedRoute({
    method: 'GET',
    path: '/history/export',
    summary: 'Everything the participant may see, oldest first, as JSON or CSV',
    query: schemas.exportQuery,
    answer: schemas.historyExport,
    otherwise: { contentType: 'text/csv' },
    async handle({ visitor: { sight }, query, request, reply }, deps) {
      const { role } = sight
      const at = unixSeconds(deps.clock)
      const bounds = boundsOf(sight, at)
      if (!bounds.ok) return bounds
      const { format = 'json' } = query
      // Without this the whole stream would be made for a HEAD and thrown away.
      if (request.method === 'HEAD') return reply.type(exportTypes[format]).send()
      const underWay = underWayOf(deps, role)
      if (underWay.size >= limits.historyExportsAtOnceMax) return tooManyAtOnce
      const seen = seenOf(deps.books.all(filterOf(bounds.value, query)), sight, at)
      const money = { network: Network.format(deps.chainId), token: toChecksum(deps.token) }
      const stream = exportStream(seen, format, { ...money, exportedAt: at, role })
      keepUnderWay(underWay, stream, deps.clock)
      return reply
        .type(exportTypes[format])
        .header('content-disposition', `attachment; filename="history-${role}.${format}"`)
        .send(stream)
    },
  }),
]

/** The exports of each participant that have not ended. */
const exportsOf = new WeakMap<HistoryApiDeps, Record<Sight['role'], Set<Readable>>>()

function underWayOf(deps: HistoryApiDeps, role: Sight['role']): Set<Readable> {
  const known = exportsOf.get(deps) ?? { payer: new Set(), provider: new Set() }
  exportsOf.set(deps, known)
  return known[role]
}

function keepUnderWay(underWay: Set<Readable>, stream: Readable, clock: Pick<Clock, 'sleep'>): void {
  const closed = new AbortController()
  underWay.add(stream)
  stream.once('close', () => {
    closed.abort()
    underWay.delete(stream)
  })
  // A reader that takes a byte now and then is never silent, and would keep its place and a snapshot of the index for good.
  void clock.sleep(limits.historyExportMsMax, closed.signal).then(() => stream.destroy())
}

async function* seenOf(
  payments: AsyncIterable<HistoryPayment>,
  sight: Sight,
  at: UnixSeconds,
): AsyncGenerator<SeenPayment> {
  for await (const payment of payments) {
    const seen = seenBy(sight, payment, at)
    if (seen) yield seen
  }
}
