/** Time as an argument, and the one place that reads the real clock. */
import { setTimeout as pause } from 'node:timers/promises'

export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  sleep(ms: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms) => {
    await pause(ms)
  },
}
