/**
 * The files of a history: full ones, named after their first record, and the newest one, which has the name alone.
 * Together they hold every line from number 1 on.
 */
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { decodeLine } from '../../ledger/journal/line.js'
import { type HistoryBinding, readHead } from './head.js'

export type Segment = { readonly path: string; readonly firstSeq: number }

/** Where the operator named the file, for errors. */
export const historySetting = 'PAYMENT_HISTORY_PATH'

const seqDigits = 15
/** Longer than any line, so that the end of a file holds a whole one. */
const endBytes = 1 << 16
const newline = 0x0a

/** The name of a full file. */
export const segmentPath = (path: string, firstSeq: number): string =>
  `${path}.${`${firstSeq}`.padStart(seqDigits, '0')}`

/** The full files, oldest first. */
export async function listSegments(path: string): Promise<Segment[]> {
  const start = `${basename(path)}.`
  const numbers = (await readdir(dirname(path)))
    .filter((name) => name.startsWith(start))
    .map((name) => name.slice(start.length))
    .filter((end) => end.length === seqDigits && /^\d+$/.test(end))
    .map(Number)
    .sort((a, b) => a - b)
  return numbers.map((firstSeq) => ({ path: segmentPath(path, firstSeq), firstSeq }))
}

/**
 * Looks at both ends of every full file: no file and no line between them may be missing. Their middles are read when the
 * index is made anew. Returns the number of the first line behind them.
 */
export async function assertUnbroken(segments: readonly Segment[], binding: HistoryBinding): Promise<number> {
  let due = 1
  for (const segment of segments) {
    if (segment.firstSeq !== due) throw broken(segment.path, beginsWith(segment.firstSeq, due))
    await assertBegins(segment, binding)
    due = (await lastSeqOf(segment.path)) + 1
  }
  return due
}

/** Throws when the file begins with another number, or belongs to another token. */
export async function assertBegins(
  { path, firstSeq }: Segment,
  binding: HistoryBinding | undefined,
): Promise<void> {
  const head = await readHead(path)
  if (!head) return
  if (head.seq !== firstSeq) throw broken(path, beginsWith(head.seq, firstSeq))
  const { chainId, token } = head.binding
  if (!binding || (chainId === binding.chainId && token === binding.token)) return
  throw new SvcError(
    'journal_corrupt',
    `${historySetting}: ${path}: it belongs to token ${token} on chain ${chainId}; give this network a history of its own`,
  )
}

export const beginsWith = (seq: number, due: number): string =>
  `it begins with record ${seq}, ${due} was due. ${seq > due ? 'A file is missing' : 'It is a copy from another time'}`

async function lastSeqOf(path: string): Promise<number> {
  const file = await open(path, 'r')
  try {
    const line = await lastLineOf(file)
    const decoded = line ? decodeLine(line) : undefined
    if (decoded?.ok !== true) throw broken(path, 'its last line is damaged')
    return decoded.value.seq
  } finally {
    await file.close()
  }
}

/** Undefined when the file does not end with a line. */
async function lastLineOf(file: FileHandle): Promise<Buffer | undefined> {
  const { size } = await file.stat()
  const bytes = Buffer.alloc(Math.min(size, endBytes))
  await file.read(bytes, 0, bytes.length, size - bytes.length)
  if (bytes.at(-1) !== newline) return undefined
  const start = bytes.subarray(0, -1).lastIndexOf(newline) + 1
  return bytes.subarray(start, -1)
}

/** The error for a file that lacks something, with what the operator can do. */
export const broken = (path: string, why: string): SvcError =>
  withHelp(new SvcError('journal_corrupt', `${historySetting}: ${path}: ${why}`))

const help =
  'Put back what belongs there; full files never change, so that every copy of one is good. Records that are lost for good ' +
  'can be given up by moving all files of the history away: the next start makes a new one of what the journal still knows'

export const withHelp = ({ code, message, cause }: SvcError): SvcError =>
  new SvcError(code, `${message}. ${help}`, { cause })
