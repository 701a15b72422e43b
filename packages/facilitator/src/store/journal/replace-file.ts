/** Writes a small file as a whole: a reader, also after a power failure, finds the old one or the new one. */
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './disk.js'

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
