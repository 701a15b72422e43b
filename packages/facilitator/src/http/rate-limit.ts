/** Requests per minute and key, in fixed windows. Bounded memory: the oldest keys are forgotten first. */
import { isIPv6 } from 'node:net'
import { createBoundedMap } from '@svc-zerc20/protocol'
import type { Clock } from '../payment/ports.js'

export type RateLimit = {
  /** Counts one request; the seconds to wait when the key's rate is used up. */
  take(key: string): 'ok' | { readonly retryAfterSeconds: number }
}

const windowMs = 60_000

export function createRateLimit(deps: { perMinute: number; keysMax: number; clock: Clock }): RateLimit {
  const { perMinute, keysMax, clock } = deps
  const windows = createBoundedMap<string, { startedMs: number; count: number }>(keysMax)
  return {
    take(key) {
      if (perMinute <= 0) return 'ok'
      const now = clock.now()
      const known = windows.get(key)
      if (known && now - known.startedMs < windowMs) {
        if (known.count >= perMinute) {
          return { retryAfterSeconds: Math.max(1, Math.ceil((known.startedMs + windowMs - now) / 1000)) }
        }
        known.count += 1
        return 'ok'
      }
      windows.set(key, { startedMs: now, count: 1 })
      return 'ok'
    },
  }
}

/**
 * A caller: its IPv4 address, or the /64 an IPv6 subscriber gets whole. A caller that hung up has no address
 * any more; all of those share one key.
 */
export function rateLimitKey(ip: string | undefined): string {
  if (ip === undefined) return 'gone'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1]
  if (mapped) return mapped
  const bare = ip.split('%')[0] ?? ip
  return isIPv6(bare) ? `${firstFourGroups(bare)}::/64` : bare
}

function firstFourGroups(ip: string): string {
  const [head = '', tail] = ip.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
