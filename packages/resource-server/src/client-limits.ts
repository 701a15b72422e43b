/**
 * How often one client may ask. Every offer costs the facilitator an address and the seller a share of its limit
 * there, so a single stranger gets a few a minute. Requests that carry a payment have room of their own: whoever
 * has paid is not turned away because of what came before.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { type ClientLimits, clientLimits as defaults } from './limits.js'
import type { Clock } from './system.js'

export class OverLimit extends Error {
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number) {
    super(`over the limit for ${retryAfterSeconds} s`)
    this.name = 'OverLimit'
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Counts one request of a client; throws OverLimit when it has had its share. */
export type Take = (client: string) => void

export type ClientShares = { readonly takeOffer: Take; readonly takePresentation: Take }

export function createClientShares(options: Partial<ClientLimits> | 'unlimited', clock: Clock): ClientShares {
  if (options === 'unlimited') return { takeOffer: () => {}, takePresentation: () => {} }
  const limits = { ...defaults, ...options }
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new SvcError('invalid_client_limits', `clientLimits.${name} must be a whole number above 0`)
  }
  const { unpaidPerMinute, payingPerMinute, clientsMax } = limits
  return {
    takeOffer: createTake(unpaidPerMinute, clientsMax, clock),
    takePresentation: createTake(payingPerMinute, clientsMax, clock),
  }
}

const minuteMs = 60_000
/** Where clients beyond those we can remember are counted together. */
const others = ''

/** A bucket of a minute's requests for each client, filled evenly. */
function createTake(perMinute: number, clientsMax: number, clock: Clock): Take {
  // Least recently seen first. A bucket that was left alone for a minute is full, and need not be remembered.
  const buckets = new Map<string, { left: number; atMs: number }>()
  function keyOf(client: string, nowMs: number): string {
    if (buckets.has(client)) return client
    for (const [key, { atMs }] of buckets) {
      if (nowMs - atMs < minuteMs) break
      buckets.delete(key)
    }
    // Forgetting somebody else instead would give a flood of addresses a way around the limit.
    return buckets.size < clientsMax ? client : others
  }
  return (client) => {
    const nowMs = clock.now()
    const key = keyOf(client, nowMs)
    const bucket = buckets.get(key) ?? { left: perMinute, atMs: nowMs }
    const gained = (Math.max(0, nowMs - bucket.atMs) * perMinute) / minuteMs
    const left = Math.min(perMinute, bucket.left + gained)
    buckets.delete(key)
    buckets.set(key, { left: left < 1 ? left : left - 1, atMs: nowMs })
    if (left < 1) throw new OverLimit(Math.max(1, Math.ceil(((1 - left) * 60) / perMinute)))
  }
}
