/** One journal record ↔ one line of text, with version, sequence and checksum. */
import { crc32 } from 'node:zlib'
import { accept, type Result, reject } from '@svc-zerc20/protocol'

/** What a line says, apart from its own bookkeeping. */
export type JournalFields = { readonly event: string; readonly [field: string]: unknown }

export type JournalLine = { readonly seq: number; readonly fields: JournalFields }

/** Raised only when a reader of the older version would misunderstand a record. */
export const journalVersion = 1

const checksumField = ',"crc":"'
const checksumHexChars = 8
const tailChars = checksumField.length + checksumHexChars + '"}'.length

const checksum = (text: string) => crc32(text).toString(16).padStart(checksumHexChars, '0')

/** The fields are JSON values, without bigints. The checksum covers every byte before it. */
export function encodeLine(seq: number, fields: JournalFields): string {
  const covered = JSON.stringify({ v: journalVersion, seq, ...fields }).slice(0, -1)
  return `${covered}${checksumField}${checksum(covered)}"}\n`
}

/** Reads a line without its newline. The rejection's message says what is wrong with it. */
export function decodeLine(line: string): Result<JournalLine> {
  const covered = line.slice(0, -tailChars)
  if (line.slice(covered.length) !== `${checksumField}${checksum(covered)}"}`)
    return damaged('its checksum does not match')
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return damaged('it is not JSON')
  }
  const { v, seq, crc: _, ...fields } = record as { v: unknown; seq: unknown; crc: string } & JournalFields
  if (v !== journalVersion) return damaged(`its version is ${v}, this program reads ${journalVersion}`)
  if (!Number.isSafeInteger(seq)) return damaged('it has no sequence number')
  return accept({ seq: seq as number, fields: fields as JournalFields })
}

const damaged = (why: string) => reject('internal_error', why)
