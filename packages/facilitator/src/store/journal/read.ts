/** Reads a file of events, and judges damaged lines. */
import { closeSync, openSync, readSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { type Line, readLine } from './line.js'

export type ReadReport = {
  readonly lines: number
  /** Bytes of the lines, without a torn one. */
  readonly bytes: number
  /** Bytes of the last lines, which a crash tore. Nobody was told of their events. */
  readonly tornBytes: number
}

const newline = 0x0a
/** The size of the read buffer. A longer line makes it grow. */
const readBytes = 1 << 18

/** A place in the file at which a line begins: the bytes and the lines before it. */
export type Place = { readonly bytes: number; readonly lines: number }

const beginning: Place = { bytes: 0, lines: 0 }

/**
 * Hands over every line behind a place, in order. Neither locks nor changes the file; a missing one has no lines. `name` is
 * where the operator named the file.
 */
export function readLines<Content>(
  path: string,
  name: string,
  onLine: (line: Line<Content>) => void,
  from = beginning,
): ReadReport {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { lines: 0, bytes: 0, tornBytes: 0 }
    throw error
  }
  const judge = createJudge(name, onLine, from)
  try {
    // A line without its newline was never acknowledged.
    return judge.end(splitLines(file, judge.read, from.bytes))
  } finally {
    closeSync(file)
  }
}

/** Hands over every line without its newline, in bytes that are overwritten later. Returns the bytes behind the last one. */
function splitLines(file: number, onLine: (line: Buffer) => void, from: number): number {
  let buffer = Buffer.allocUnsafeSlow(readBytes)
  let held = 0
  let position = from
  for (;;) {
    if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const bytesRead = readSync(file, buffer, held, buffer.length - held, position)
    if (bytesRead === 0) return held
    position += bytesRead
    const filled = buffer.subarray(0, held + bytesRead)
    let start = 0
    for (let end = filled.indexOf(newline, held); end !== -1; end = filled.indexOf(newline, start)) {
      onLine(filled.subarray(start, end))
      start = end + 1
    }
    filled.copyWithin(0, start)
    held = filled.length - start
  }
}

/**
 * Judges lines in order. Damaged lines are passed over only at the very end of the file, where a crash tore them before they
 * were acknowledged. Lines that are synced together may be torn anywhere, so whole ones of them may follow. A line of a
 * later group tells that the damaged one was synced: it would be a payment that people were told of, and it stops the
 * start. So does a line with a good checksum that cannot be understood, because no crash tore it.
 */
function createJudge<Content>(name: string, onLine: (line: Line<Content>) => void, from: Place) {
  let number = from.lines
  let { lines, bytes } = from
  let tornBytes = 0
  let damaged: { readonly seq: number; readonly line: number; readonly why: string } | undefined

  const stop = (line: number, why: string) =>
    new SvcError('ledger_corrupt', `${name}: line ${line} is damaged: ${why}`)

  function understood<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      throw error.code === 'ledger_newer' ? newer(name, number, error.message) : stop(number, error.message)
    }
  }

  return {
    read(line: Buffer): void {
      number += 1
      const read = understood(() => readLine<Content>(line))
      const isTorn = 'torn' in read
      if (isTorn) damaged ??= { seq: lines + 1, line: number, why: read.torn }
      if (damaged) {
        if (!isTorn && read.group > damaged.seq) throw stop(damaged.line, damaged.why)
        tornBytes += line.length + 1
      }
      if (damaged || isTorn) return
      const { seq } = read
      if (seq !== lines + 1) throw stop(number, `it has the sequence number ${seq}, ${lines + 1} was due`)
      understood(() => onLine(read))
      lines += 1
      bytes += line.length + 1
    },
    end(restBytes: number): ReadReport {
      // The first line is synced before any other is written: this was never a file of ours.
      if (damaged?.seq === 1 && (number > 1 || restBytes > 0)) throw stop(damaged.line, damaged.why)
      return { lines, bytes, tornBytes: tornBytes + restBytes }
    },
  }
}

const newer = (name: string, line: number, why: string) =>
  new SvcError(
    'ledger_newer',
    `${name}: line ${line} was written by a newer version of this program: ${why}. Nothing was changed; run that version, or a later one`,
  )
