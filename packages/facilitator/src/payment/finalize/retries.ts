/** When something that failed may be tried again: exponentially later each time, up to a bound. */
import { backOffMs } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'

export type Retries<Key> = {
  isDue(key: Key): boolean
  failed(key: Key): void
  /** In a row. */
  failures(key: Key): number
  forget(key: Key): void
}

export function createRetries<Key>(deps: { clock: Clock; first: number; max: number }): Retries<Key> {
  const { clock, first, max } = deps
  const notBefore = new Map<Key, { at: number; failures: number }>()
  const failuresOf = (key: Key) => notBefore.get(key)?.failures ?? 0
  return {
    isDue: (key) => clock.now() >= (notBefore.get(key)?.at ?? 0),
    failed(key) {
      const failures = failuresOf(key) + 1
      notBefore.set(key, { at: clock.now() + backOffMs(failures, first, max), failures })
    },
    failures: failuresOf,
    forget(key) {
      notBefore.delete(key)
    },
  }
}
