/** What survives a power failure, and which file is which. */
import { type BigIntStats, closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Brings a file, or the names in a folder, to the disk, before anything else happens in this thread. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Makes new and renamed entries of a folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

/** Tells a file from any other that has its name later. */
export const identityOf = (file: BigIntStats | undefined): string | undefined =>
  file && `${file.dev}:${file.ino}`
