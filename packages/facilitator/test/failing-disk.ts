/** A real file whose disk fails on command: full, slow to take bytes, or unable to sync. */
import { open } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import type { JournalFile } from '../src/ledger/journal/file-tail.js'

export type FailingDisk = JournalFile & {
  readonly path: string
  /** Bytes the file may hold; beyond them the disk is full. */
  capacityBytes: number
  /** Bytes one write takes at most. */
  writeBytesMax: number
  syncFails: boolean
  truncateFails: boolean
  /** Awaited by every sync, so that a test can hold it. */
  beforeSync: () => Promise<void>
  syncs: number
}

const diskError = (code: string) => Object.assign(new Error(`${code}: a failing disk`), { code })

export async function openFailingDisk(path: string): Promise<FailingDisk> {
  const file = await open(path, 'w+')
  onTestFinished(() => file.close())
  const disk: FailingDisk = {
    path,
    capacityBytes: Number.POSITIVE_INFINITY,
    writeBytesMax: Number.POSITIVE_INFINITY,
    syncFails: false,
    truncateFails: false,
    beforeSync: async () => undefined,
    syncs: 0,
    // Full disks take what still fits and refuse the rest, as write(2) does.
    write: (async (bytes: Buffer, offset: number, length: number, position: number) => {
      const room = Math.max(0, disk.capacityBytes - position)
      if (room === 0) throw diskError('ENOSPC')
      return file.write(bytes, offset, Math.min(length, room, disk.writeBytesMax), position)
    }) as JournalFile['write'],
    async datasync() {
      await disk.beforeSync()
      if (disk.syncFails) throw diskError('EIO')
      disk.syncs += 1
      await file.datasync()
    },
    async truncate(bytes) {
      if (disk.truncateFails) throw diskError('EIO')
      await file.truncate(bytes)
    },
    close: () => file.close(),
  }
  return disk
}
