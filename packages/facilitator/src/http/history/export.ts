/** The export: everything a participant may see, in one answer. It holds a snapshot, so its number and time are bounded. */
import type { Readable } from 'node:stream'
import { reject, toChecksum, type UnixSeconds } from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ParticipantRole } from '../../config/history-settings.js'
import { limits } from '../../config/limits.js'
import type { HistoryPayment } from '../../history/payment.js'
import { boundsOf, type SeenPayment, type Sight, seenBy } from '../../history/scopes.js'
import type { HistoryRoutes } from './deps.js'
import { exportStream, exportTypes } from './export-stream.js'
import { filterOf, readQuery } from './query.js'
import * as schemas from './schemas.js'

export function registerExport(app: FastifyInstance, routes: HistoryRoutes): void {
  const { clock, door, books, network, token, rateLimits, now, refuse } = routes
  const rate = rateLimits('history_export', limits.historyExportsPerMin)
  const underWay = createUnderWay(clock)

  app.get('/export', async (request, reply): Promise<FastifyReply> => {
    const { sight } = door.visitOf(request)
    const { role } = sight
    const at = now()
    const asked = readQuery(schemas.exportQuery, request.query)
    if (!asked.ok) return refuse(reply, asked)
    const bounds = boundsOf(sight, at)
    if (!bounds.ok) return refuse(reply, bounds)
    const { format = 'json' } = asked.value
    // Without this the whole stream would be made for a HEAD and thrown away.
    if (request.method === 'HEAD') return reply.type(exportTypes[format]).send()
    const taken = await rate.take(role)
    if (taken !== 'ok') return refuse(reply, reject('too_many_requests'), taken.retryAfterSeconds)
    if (underWay.isFull(role)) return refuse(reply, tooManyAtOnce)
    const seen = seenOf(books.all(filterOf(bounds.value, asked.value)), sight, at)
    const stream = exportStream(seen, format, { network, token: toChecksum(token), exportedAt: at, role })
    underWay.add(role, stream)
    return reply
      .type(exportTypes[format])
      .header('content-disposition', `attachment; filename="history-${role}.${format}"`)
      .send(stream)
  })
}

const tooManyAtOnce = reject('too_many_requests', 'as many exports are under way as one participant may have')

/** The exports of each participant that have not ended. */
function createUnderWay(clock: HistoryRoutes['clock']) {
  const streams = { payer: new Set<Readable>(), provider: new Set<Readable>() }
  return {
    isFull: (role: ParticipantRole) => streams[role].size >= limits.historyExportsAtOnceMax,
    add(role: ParticipantRole, stream: Readable): void {
      const closed = new AbortController()
      streams[role].add(stream)
      stream.once('close', () => {
        closed.abort()
        streams[role].delete(stream)
      })
      // A reader that takes a byte now and then is never silent, and would keep its place and a snapshot of the index for good.
      void clock.sleep(limits.historyExportMsMax, closed.signal).then(() => stream.destroy())
    },
  }
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
