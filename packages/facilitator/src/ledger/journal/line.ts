/** One journal record ↔ one line of text, with version, sequence and checksum. */
import { crc32 } from 'node:zlib'
import { accept, type Result, reject, SvcError } from '@svc-zerc20/protocol'

/** The content of a line, without version, sequence number and checksum. */
export type JournalFields = { readonly event: string; readonly [field: string]: unknown }

/** A line whose checksum is good, without its newline. */
export type JournalLine = { readonly seq: number; readonly text: string }

/** The version is raised only when an older reader would misunderstand a record. */
const journalVersion = 1

/** Patterns for the beginning and the end of a line, around its content. */
export const linePattern = {
  head: String.raw`^\{"v":${journalVersion},"seq":\d+,`,
  tail: String.raw`,"crc":"[0-9a-f]{8}"\}$`,
} as const

const head = `{"v":${journalVersion},"seq":`
const checksumField = ',"crc":"'
const checksumHexChars = 8
const tailChars = checksumField.length + checksumHexChars + '"}'.length
const seqCharsMax = 15
const quote = 0x22
const brace = 0x7d

const tailOf = (covered: string | Uint8Array) =>
  `${checksumField}${crc32(covered).toString(16).padStart(checksumHexChars, '0')}"}`

/** The fields are JSON values, without bigints. */
export const encodeLine = (seq: number, fields: JournalFields): string =>
  sealLine(seq, JSON.stringify(fields))

/** A line from its fields as JSON. The checksum covers every byte before it. */
export function sealLine(seq: number, json: string): string {
  const covered = `${head}${seq},${json.slice(1, -1)}`
  return `${covered}${tailOf(covered)}\n`
}

/**
 * Reads a line without its newline. A line with a bad checksum is rejected, with a message: a crash may have torn it. A
 * line with a good checksum was not torn. When it cannot be read, this throws `SvcError`: `journal_newer` for a line of a
 * later version, else `journal_corrupt`.
 */
export function decodeLine(line: Buffer): Result<JournalLine> {
  if (!isWhole(line)) return damaged('its checksum does not match')
  const text = line.toString('utf8')
  const seq = seqIn(text)
  return seq === undefined ? decodeOther(text) : accept({ seq, text })
}

/** Compares bytes and numbers instead of texts, because a start does this for every line of the file. */
function isWhole(line: Buffer): boolean {
  const end = line.length - tailChars
  const digits = end + checksumField.length
  if (end < 0 || line[digits + checksumHexChars] !== quote || line[line.length - 1] !== brace) return false
  for (let i = 0; i < checksumField.length; i++)
    if (line[end + i] !== checksumField.charCodeAt(i)) return false
  let checksum = 0
  for (let i = digits; i < digits + checksumHexChars; i++) checksum = checksum * 16 + hexDigit(line[i] ?? 0)
  return checksum === crc32(line.subarray(0, end))
}

/** NaN for every character that this program does not write. */
function hexDigit(char: number): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30
  return char >= 0x61 && char <= 0x66 ? char - 0x61 + 10 : Number.NaN
}

/** The sequence number of a line that begins as this version writes it; undefined for any other. */
function seqIn(text: string): number | undefined {
  if (!text.startsWith(head)) return undefined
  const end = text.indexOf(',', head.length)
  if (end === -1 || end - head.length > seqCharsMax) return undefined
  const digits = text.slice(head.length, end)
  const seq = Number(digits)
  return `${seq}` === digits ? seq : undefined
}

/** Reads a whole line of another program, whose fields may be in any order. */
function decodeOther(text: string): Result<JournalLine> {
  const { v, seq } = parsedJson(text) as { readonly v?: unknown; readonly seq?: unknown }
  if (Number.isSafeInteger(v) && (v as number) > journalVersion) {
    throw new SvcError('journal_newer', `its format is ${v}, this program reads ${journalVersion}`)
  }
  if (v !== journalVersion) {
    throw new SvcError('journal_corrupt', `its format is ${v}, this program reads ${journalVersion}`)
  }
  if (!Number.isSafeInteger(seq)) throw new SvcError('journal_corrupt', 'it has no sequence number')
  return accept({ seq: seq as number, text })
}

/** The content of a line. Throws `SvcError('journal_corrupt')` when it is not JSON, although its checksum is good. */
export function fieldsOf({ text }: JournalLine): JournalFields {
  const { v: _v, seq: _seq, crc: _crc, ...fields } = parsedJson(text) as JournalFields
  return fields
}

function parsedJson(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new SvcError('journal_corrupt', 'it is not JSON')
  }
}

const damaged = (why: string) => reject('internal_error', why)
