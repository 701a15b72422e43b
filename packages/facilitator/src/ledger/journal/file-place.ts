/**
 * Watches whether the file that we write to still has its name and all its bytes. A file that was removed, replaced or
 * cut short goes on taking records, and nobody will ever read them.
 */
import { type BigIntStats, fstatSync, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'

export type JournalPlace = {
  /** Throws `SvcError('journal_lost')` once the file is not in its place, and ever after. */
  assertKept(bytes: number): void
  /** From now on the name may also lead to this file, because a compaction is about to rename it. */
  expect(next: FileHandle): void
  /** The renaming is over: only the file that has the name now counts. */
  settle(): void
  lost(): SvcError | undefined
}

export function createJournalPlace(
  path: string,
  file: FileHandle,
  onLost: (error: SvcError) => void,
): JournalPlace {
  let current = identityOf(fstatSync(file.fd, { bigint: true }))
  let next: string | undefined
  let lost: SvcError | undefined

  function whyLost(bytes: number): string | undefined {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!found) return 'was removed'
    const identity = identityOf(found)
    if (identity === next) return undefined
    if (identity !== current) return 'was replaced by another file'
    return found.size < BigInt(bytes) ? 'was cut short' : undefined
  }

  return {
    assertKept(bytes) {
      if (lost) throw lost
      const why = whyLost(bytes)
      if (why === undefined) return
      lost = new SvcError(
        'journal_lost',
        `settlement.journal: ${path} ${why} while the daemon was using it. Nothing more is accepted; what it ` +
          `remembers is saved as ${rescuedOf(path)}. Stop the daemon, move that file to ${path}, and start again`,
      )
      onLost(lost)
      throw lost
    },
    expect(file) {
      next = identityOf(fstatSync(file.fd, { bigint: true }))
    },
    settle() {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false })
      if (found && identityOf(found) === next) current = next
      next = undefined
    },
    lost: () => lost,
  }
}

/** The file in which a daemon that lost its journal saves its memory. */
export const rescuedOf = (path: string): string => `${path}.rescued`

const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`
