/**
 * How often one client may ask. Every offer costs the facilitator an address, and costs the seller one of the
 * challenges it may ask for in a minute. So each client gets only a few offers a minute. Requests that carry a payment
 * are counted separately: earlier unpaid requests never turn a payer away. A payment for a sealed offer is counted by
 * its offer and not by its client, because nobody can make up a seal: junk from however many addresses takes nothing
 * from it.
 */
import { type Clock, ipv6SubscriberOf, SvcError } from '@svc-zerc20/protocol'
import { type ClientLimits, clientLimits as defaults } from '../limits.js'
import { type Bucket, filled, minuteMs, OverLimit, secondsUntilOne, takenFrom } from './bucket.js'
import { createRefusedPresentations, type RefusedPresentations } from './refused-presentations.js'

/** Counts one request of a client. Throws OverLimit above the limit. */
export type Take = (client: string) => void

export type ClientCounts = {
  readonly takeOffer: Take
  /** For a payment whose offer has no valid seal. */
  readonly takeUnsealed: Take
  /** For a payment with a valid seal, counted by the nonce in its offer. */
  readonly takeSealed: Take
  /** Counts one re-send of a failed settle. False above the limit. */
  mayResend(client: string): boolean
  readonly refused: RefusedPresentations
}

export function createClientCounts(options: Partial<ClientLimits> | 'unlimited', clock: Clock): ClientCounts {
  if (options === 'unlimited') return unlimited
  const limits = { ...defaults, ...options }
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new SvcError('invalid_client_limits', `clientLimits.${name} must be a whole number above 0`)
  }
  const { unpaidPerMinute, payingPerMinute, resendsPerMinute, clientsMax, offersMax } = limits
  const resends = createCount(resendsPerMinute, clientsMax, clock)
  return {
    takeOffer: orThrow('offers', createCount(unpaidPerMinute, clientsMax, clock)),
    takeUnsealed: orThrow('payments', createCount(payingPerMinute, clientsMax, clock)),
    takeSealed: orThrow('payments', createCount(payingPerMinute, offersMax, clock, 'forget_oldest')),
    mayResend: (client) => resends(client) === 0,
    refused: createRefusedPresentations(limits, clock),
  }
}

const unlimited: ClientCounts = {
  takeOffer: () => {},
  takeUnsealed: () => {},
  takeSealed: () => {},
  mayResend: () => true,
  refused: { check: () => true, note: () => {}, noteUnaccepted: () => {} },
}

/** The key shared by all newcomers above the number of keys. */
const others = ''

/** Counts one request of a client. Returns 0, or the seconds that the client has to wait. */
type Count = (client: string) => number

const orThrow =
  (of: OverLimit['of'], count: Count): Take =>
  (client) => {
    const seconds = count(client)
    if (seconds > 0) throw new OverLimit(seconds, of)
  }

/**
 * A bucket of a minute's requests for each key. With too many keys, newcomers share one bucket: dropping another's
 * instead would let a flood of addresses escape the limit. Keys that nobody can make up are safe to drop.
 */
function createCount(
  perMinute: number,
  keysMax: number,
  clock: Clock,
  whenFull: 'share' | 'forget_oldest' = 'share',
): Count {
  // Least recently seen first. A bucket that nobody used for a minute is full again and can be dropped.
  const buckets = new Map<string, Bucket>()
  function keyOf(client: string, nowMs: number): string {
    if (buckets.has(client)) return client
    for (const [key, { atMs }] of buckets) {
      const isPast = nowMs - atMs >= minuteMs
      if (!isPast && (whenFull === 'share' || buckets.size < keysMax)) break
      buckets.delete(key)
    }
    return buckets.size < keysMax ? client : others
  }
  return (client) => {
    const nowMs = clock.now()
    const key = keyOf(client, nowMs)
    const bucket = filled(buckets.get(key), perMinute, nowMs)
    const seconds = secondsUntilOne(bucket, perMinute)
    buckets.delete(key)
    buckets.set(key, seconds > 0 ? bucket : takenFrom(bucket))
    return seconds
  }
}

const nameCharactersMax = 128

/** The key under which a client is counted: its IPv4 address, the /64 of its IPv6 address, or the seller's name. */
export const clientKey = (client: string): string =>
  ipv6SubscriberOf(client) ?? client.slice(0, nameCharactersMax)
