/** How much room the disk under a file has left. */
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

export type DiskSpace = () => Promise<number | undefined>

/** Bytes that an ordinary user may still write; undefined when the system does not tell. */
export function createDiskSpace(file: string): DiskSpace {
  return async () => {
    try {
      const { bavail, bsize } = await statfs(dirname(file))
      return bavail * bsize
    } catch {
      return undefined
    }
  }
}
