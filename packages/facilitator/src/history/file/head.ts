/** How a file of the history begins: with the number of its first line, and with the token that its payments are of. */
import { open } from 'node:fs/promises'
import type { Address } from '@svc-zerc20/protocol'
import { decodeLine, fieldsOf } from '../../ledger/journal/line.js'
import { address, integer } from '../../records/field-kinds.js'
import { eventRecord } from '../../records/record.js'
import { eventIn } from '../record-line.js'

/** The token whose payments a history holds. Every file begins with it: histories of two tokens must not mix. */
export type HistoryBinding = { readonly chainId: number; readonly token: Address }

const bindingEvent = 'history_bound'
const bindingRecord = eventRecord<{ readonly event: typeof bindingEvent } & HistoryBinding>(bindingEvent, {
  chainId: integer,
  token: address,
})

export const bindingFields = (binding: HistoryBinding) =>
  bindingRecord.toJson({ event: bindingEvent, ...binding })

export const isBinding = (text: string): boolean => eventIn(text) === bindingEvent

/** More than such a line has. */
const headBytes = 4_096
const newline = 0x0a

export type Head = { readonly seq: number; readonly binding: HistoryBinding }

/** Undefined where the first line is missing, damaged or no such line: whoever reads the file is told of it there. */
export async function readHead(path: string): Promise<Head | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const end = buffer.subarray(0, bytesRead).indexOf(newline)
    const line = end === -1 ? undefined : decodeLine(buffer.subarray(0, end))
    if (!line?.ok || !isBinding(line.value.text)) return undefined
    const { chainId, token } = bindingRecord.fromJson(fieldsOf(line.value))
    return { seq: line.value.seq, binding: { chainId, token } }
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
