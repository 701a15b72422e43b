/** The real clock and the real randomness: the only place that touches either. */
import { randomBytes } from 'node:crypto'
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
