/** One event ↔ one line of text, with version, sequence number and checksum. */
import { crc32 } from 'node:zlib'
import { SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import type { LedgerEvent } from '../events.js'
import { encode, revived } from '../stored.js'

/** The first line of a file: whose it is, and the number of the last event before it. */
export type JournalHead = {
  readonly event: 'journal_begun'
  readonly ledger: string
  readonly base: number
  /** Checksum of the line of that event. */
  readonly baseCrc: string
}

/** A line of a file of events; `Content` is what the file is made of. */
export type Line<Content> = {
  readonly seq: number
  /** The number of the first line that was synced together with this one. All lines before that were synced earlier. */
  readonly group: number
  readonly at: UnixSeconds
  readonly crc: string
  readonly content: Content
}
export type JournalLine = Line<JournalHead | LedgerEvent>

/** The version is raised only when an older reader would misunderstand a line. */
const version = 1
const checksumField = ',"crc":"'
const checksumChars = 8
const tailChars = checksumField.length + checksumChars + '"}'.length

/** How a line with this checksum ends, with its newline. */
export const lineEnd = (crc: string): string => `${checksumField}${crc}"}\n`

const crcOf = (covered: string | Uint8Array): string =>
  crc32(covered).toString(16).padStart(checksumChars, '0')

/** A line with its newline. The checksum covers every byte before it. */
export const writeLine = (seq: number, at: UnixSeconds, content: object) => lineOf(seq, at, encode(content))

/** A line of content that is JSON already. */
export function lineOf(
  seq: number,
  at: UnixSeconds,
  json: string,
  group = seq,
): { readonly text: string; readonly crc: string } {
  const shared = group === seq ? '' : `"group":${group},`
  const covered = `{"v":${version},"seq":${seq},${shared}"at":${at},${json.slice(1, -1)}`
  const crc = crcOf(covered)
  return { text: `${covered}${lineEnd(crc)}`, crc }
}

/** Why a line is taken for one that a crash tore. */
type Torn = { readonly torn: string }

/**
 * Reads a line without its newline. A line with a bad checksum is given as torn, with a message: a crash may have done it. A
 * line with a good checksum was not torn. When it cannot be read, this throws `SvcError`: `ledger_newer` for a line of a
 * later version, else `ledger_corrupt`.
 */
export function readLine<Content>(line: Buffer): Line<Content> | Torn {
  const end = line.length - tailChars
  const crc = line.toString('latin1', end + checksumField.length, line.length - 2)
  const tail = `${checksumField}${crc}"}`
  const isWhole = end > 0 && line.toString('latin1', end) === tail && crc === crcOf(line.subarray(0, end))
  if (!isWhole) return { torn: 'its checksum does not match' }
  const { v, seq, group = seq, at, crc: _, ...content } = parsed(line.toString('utf8'))
  if (Number.isSafeInteger(v) && v > version) {
    throw new SvcError('ledger_newer', `its format is ${v}, this program reads ${version}`)
  }
  if (v !== version || !Number.isSafeInteger(seq) || !Number.isSafeInteger(at)) {
    throw new SvcError('ledger_corrupt', 'it has no version, sequence number or time')
  }
  return { seq, group, at: at as UnixSeconds, crc, content: revived(content) as Content }
}

// biome-ignore lint/suspicious/noExplicitAny: each field is looked at by the caller.
function parsed(text: string): Record<string, any> {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new SvcError('ledger_corrupt', 'it is not JSON')
  }
}
