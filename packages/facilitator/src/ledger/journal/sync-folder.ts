import { open } from 'node:fs/promises'

/** Makes names in a folder survive a power failure: those that are new, and those that changed hands. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
