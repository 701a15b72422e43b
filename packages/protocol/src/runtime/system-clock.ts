/**
 * The machine's own time. A door of its own (`@svc-zerc20/protocol/system-clock`) keeps it away from code that may
 * only be handed a clock: the payment flow imports the protocol, and this is no part of it.
 */
import type { Clock } from './clock.js'

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
