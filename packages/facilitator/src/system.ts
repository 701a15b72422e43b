/** The real randomness: the only place that touches it; and one thing that disks need. */
import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'

export const systemRandom = { bytes: (length: number): Uint8Array => randomBytes(length) }

/** Makes new and renamed entries of a folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
