/**
 * The end of the journal file. Lines are written and synced in one go. After a refusal the file is cut back to what was
 * synced before anything else is written, so no line stays that was refused.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { identityOf, syncPath } from './disk.js'

export type JournalFile = {
  /** Throws when the disk refuses; then nothing of the text counts. */
  append(text: string): void
  /** Takes the last append back: the database refused it. */
  takeBack(): void
  /** Puts a file with this text alone into the journal's place. Throws when nothing changed. */
  replace(text: string): void
  /** Throws `SvcError('journal_lost')` once the file is not in its place, and ever after. */
  assertKept(): void
  bytes(): number
  close(): void
}

/** Opens a file whose first `bytes` bytes are good, and cuts off the rest. Syncs it: its lines are about to be believed. */
export function openJournalFile(path: string, bytes: number): JournalFile {
  let file = openSync(path, bytes === 0 ? 'w+' : 'r+', 0o600)
  let durableBytes = bytes
  let lastBytes = bytes
  /** Bytes behind the durable ones may be there, and must go first. */
  let isCut = false
  /** The folder may still name an earlier file after a power failure, and what is appended to this one would be gone. */
  let isNamed = false
  let identity = identityOf(fstatSync(file, { bigint: true }))
  let lost: SvcError | undefined

  function assertKept(): void {
    lost ??= lossOf(path, identity, durableBytes)
    if (lost) throw lost
  }

  function cut(): void {
    if (isCut) return
    ftruncateSync(file, durableBytes)
    fdatasyncSync(file)
    isCut = true
  }

  function keepName(): void {
    if (isNamed) return
    syncPath(dirname(path))
    isNamed = true
  }

  cut()
  fsyncSync(file)
  keepName()
  return {
    append(text) {
      assertKept()
      keepName()
      cut()
      isCut = false
      const content = Buffer.from(text)
      writeAll(file, content, durableBytes)
      fdatasyncSync(file)
      // A file that was removed meanwhile was synced for nobody.
      assertKept()
      lastBytes = durableBytes
      durableBytes += content.length
      isCut = true
    },
    takeBack() {
      durableBytes = lastBytes
      isCut = false
      cut()
    },
    replace(text) {
      assertKept()
      const unfinished = `${path}.new`
      const content = Buffer.from(text)
      let unused = openSync(unfinished, 'w', 0o600)
      try {
        writeAll(unused, content, 0)
        fsyncSync(unused)
        const next = identityOf(fstatSync(unused, { bigint: true }))
        renameSync(unfinished, path)
        identity = next
        ;[file, unused] = [unused, file]
        durableBytes = content.length
        lastBytes = durableBytes
        isCut = true
        isNamed = false
      } finally {
        closeSync(unused)
      }
    },
    assertKept,
    bytes: () => durableBytes,
    close: () => closeSync(file),
  }
}

function writeAll(file: number, content: Buffer, position: number): void {
  for (let written = 0; written < content.length; ) {
    written += writeSync(file, content, written, content.length - written, position + written)
  }
}

/** A file that was removed, replaced or cut short goes on taking lines, and nobody will ever read them. */
function lossOf(path: string, identity: string | undefined, bytes: number): SvcError | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (found && identityOf(found) === identity && found.size >= BigInt(bytes)) return undefined
  const why = !found
    ? 'was removed'
    : identityOf(found) === identity
      ? 'was cut short'
      : 'was replaced by another file'
  return new SvcError(
    'journal_lost',
    `settlement.journal: ${path} ${why} while the daemon was using it. Nothing more is accepted; ${path}.db ` +
      'has all of it. Put the file back, or start once with --accept-copy',
  )
}
