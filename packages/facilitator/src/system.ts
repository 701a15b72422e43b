/** The real clock and the real randomness: the only place that touches either; and one thing that disks need. */
import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Clock } from './payment/ports.js'

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    }),
}

export const systemRandom = { bytes: (length: number): Uint8Array => randomBytes(length) }

/** Makes new and renamed entries of a folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
