/** Everything a participant may see, as a stream: memory holds a few payments however long the history is. */
import { Readable } from 'node:stream'
import type { ParticipantRole } from '../../config/secrets/history.js'
import type { SeenPayment } from '../../history/scopes.js'
import { toJson } from '../server.js'
import { csvOf, viewPayment } from './view.js'

export const exportTypes = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
} as const
export type ExportFormat = keyof typeof exportTypes

export type ExportHead = { readonly network: string; readonly token: string; readonly exportedAt: number }

/** Text is gathered to pieces of about this size. */
const pieceCharacters = 16_384

/**
 * The stream asks for the next payments only when its reader took the last ones, and lets the payments go when its reader
 * leaves. If a payment cannot be read, the answer breaks off, so that nobody takes a part for the whole.
 */
export function exportStream(
  payments: AsyncIterable<SeenPayment>,
  format: ExportFormat,
  head: ExportHead & { readonly role: ParticipantRole },
): Readable {
  const text = format === 'csv' ? asCsv(payments, head) : asJson(payments, head)
  return Readable.from(inPieces(text), { objectMode: false, highWaterMark: pieceCharacters })
}

async function* asCsv(payments: AsyncIterable<SeenPayment>, head: ExportHead & { role: ParticipantRole }) {
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
