/**
 * The machine's clock. It has its own entry point (`@svc-zerc20/protocol/system-clock`), so that the payment flow, which
 * imports the protocol and must get its clock as an argument, cannot import it by accident.
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
