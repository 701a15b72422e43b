/**
 * The export: everything a participant may see, in one answer. It is a stream, so that memory holds a few payments however long
 * the history is. It holds a snapshot, so its number and time are bounded.
 */
import { Readable } from 'node:stream'
import { type Clock, Network, reject, toChecksum, type UnixSeconds, unixSeconds } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import type { HistoryPayment } from '../../history/payment.js'
import { boundsOf, type SeenPayment, type Sight, seenBy } from '../../history/scopes.js'
import { toJson } from '../server.js'
import { guardedRoute } from './authenticate.js'
import { filterOf } from './payments.js'
import * as schemas from './schemas.js'
import { csvOf, viewPayment } from './view.js'

const exportTypes = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
} as const

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
      const underWay = deps.exports[role]
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

type ExportHead = { readonly network: string; readonly token: string; readonly exportedAt: number }

/** Text is gathered to pieces of about this size. */
const pieceCharacters = 16_384

/**
 * The stream asks for the next payments only when its reader took the last ones, and lets the payments go when its reader
 * leaves. If a payment cannot be read, the answer breaks off, so that nobody takes a part for the whole.
 */
function exportStream(
  payments: AsyncIterable<SeenPayment>,
  format: keyof typeof exportTypes,
  head: ExportHead & { readonly role: Sight['role'] },
): Readable {
  const text = format === 'csv' ? asCsv(payments, head) : asJson(payments, head)
  return Readable.from(inPieces(text), { objectMode: false, highWaterMark: pieceCharacters })
}

async function* asCsv(payments: AsyncIterable<SeenPayment>, head: ExportHead & { role: Sight['role'] }) {
  const csv = csvOf(head.role, head)
  yield csv.header
  for await (const payment of payments) yield csv.row(payment)
}

async function* asJson(payments: AsyncIterable<SeenPayment>, { network, token, exportedAt }: ExportHead) {
  yield `${JSON.stringify({ network, token, exportedAt }).slice(0, -1)},"payments":[`
  let separator = '\n'
  for await (const payment of payments) {
    yield `${separator}${toJson(viewPayment(payment))}`
    separator = ',\n'
  }
  yield '\n]}\n'
}

async function* inPieces(parts: AsyncIterable<string>) {
  let piece = ''
  for await (const part of parts) {
    piece += part
    if (piece.length < pieceCharacters) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
