/** Files and names that survive a power failure, and the identity of a file. */
import { type BigIntStats, closeSync, fsyncSync, openSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

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

/** Writes a small file as a whole: a reader, also after a power failure, finds the old one or the new one. */
export async function replaceFile(
  path: string,
  text: string,
  {
    mode = 0o600,
    unfinished = `${path}.new`,
  }: {
    readonly mode?: number
    /** Where it is written before it has its name. On the same disk. */
    readonly unfinished?: string
  } = {},
): Promise<void> {
  const file = await open(unfinished, 'w', mode)
  try {
    // The process may have its own mask, and a file that a crash left may have another mode.
    await file.chmod(mode)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  await syncFolder(dirname(path))
}

/** Tells a file from any other that has its name later. */
export const identityOf = (file: BigIntStats | undefined): string | undefined =>
  file && `${file.dev}:${file.ino}`
