/**
 * Limits how many refused payments a client may cause. Each refusal cost a call to the facilitator, which counts
 * against the seller's rate there. A client with many refusals has to wait before its next payment is looked at. The
 * same holds for one offer that is presented with many payloads, from whatever addresses: who has a sealed offer got it
 * from us, or from its payer.
 *
 * A burn that does not exist looks like a burn that is not visible yet. So the first payload that was answered with
 * "send it again" is not counted as refused: an honest payer has exactly one such payload for each offer. But a stranger
 * has as many as it has offers, and a handler that finds nothing to sell takes no payment either. So whatever a client
 * presents without buying anything has a wider limit of its own, which one payer that waits for its burn does not reach.
 * Others behind its address may: so above that limit one presentation every few seconds is free for a payload that was
 * answered so, and such payloads take turns.
 */

import { createHash } from 'node:crypto'
import type { Clock } from '@svc-zerc20/protocol'
import { awaitedLimits, type ClientLimits, refusalsKeptMs } from '../limits.js'
import { retryOf } from '../refusal.js'
import { type Bucket, filled, OverLimit, secondsUntilOne, takenFrom } from './bucket.js'

export type Presented = {
  /** The nonce in the sealed offer. */
  readonly challengeNonce: string
  /** The scheme's own part of the payment. */
  readonly payload: unknown
}

export type RefusedPresentations = {
  /**
   * Throws OverLimit while this client, or this offer, has too many refusals, or this client bought nothing too often. Whether
   * the presentation is one of those that are counted if they buy nothing.
   */
  check(client: string, presented: Presented): boolean
  /** Counts a refusal by the facilitator, depending on its reason. */
  note(client: string, presented: Presented, reason: string): void
  /** Counts a payment that the facilitator was asked about, and that was not accepted. */
  noteUnaccepted(client: string): void
}

export type RefusalLimits = Pick<
  ClientLimits,
  'refusedPerMinute' | 'refusedPerOfferPerMinute' | 'unacceptedPerMinute' | 'clientsMax' | 'offersMax'
>

type Offer = {
  readonly bucket: Bucket
  /** The digest of the payload that was answered with "send it again". */
  readonly awaited?: string | undefined
}

type Unaccepted = { readonly bucket: Bucket; readonly turns?: Turns | undefined }

export function createRefusedPresentations(limits: RefusalLimits, clock: Clock): RefusedPresentations {
  const { refusedPerMinute, refusedPerOfferPerMinute, unacceptedPerMinute } = limits
  const clients = createRecent<{ bucket: Bucket }>(limits.clientsMax)
  const unaccepted = createRecent<Unaccepted>(limits.clientsMax)
  const offers = createRecent<Offer>(limits.offersMax)

  return {
    check(client, presented) {
      const nowMs = clock.now()
      const waitOf = (bucket: Bucket | undefined, perMinute: number) =>
        secondsUntilOne(filled(bucket, perMinute, nowMs), perMinute)
      const offer = offers.get(presented.challengeNonce)
      const isAwaited = offer?.awaited !== undefined && offer.awaited === digestOf(presented)
      const bought = unaccepted.get(client)
      const seconds = waitOf(bought?.bucket, unacceptedPerMinute)
      if (isAwaited && bought !== undefined && seconds > 0) {
        const { turns = createTurns() } = bought
        unaccepted.set(client, { ...bought, turns })
        const wait = turns.take(presented.challengeNonce, nowMs)
        if (wait > 0) throw overLimit(Math.min(seconds, wait))
        return false
      }
      const refusals = isAwaited
        ? 0
        : Math.max(
            waitOf(clients.get(client)?.bucket, refusedPerMinute),
            waitOf(offer?.bucket, refusedPerOfferPerMinute),
          )
      if (seconds > 0 || refusals > 0) throw overLimit(Math.max(seconds, refusals))
      return true
    },
    note(client, presented, reason) {
      const retry = retryOf(reason)
      // "Later" is the facilitator's own trouble and says nothing about the payment.
      if (retry === 'later') return
      const nowMs = clock.now()
      const key = presented.challengeNonce
      const offer = offers.get(key)
      const bucket = filled(offer?.bucket, refusedPerOfferPerMinute, nowMs)
      const digest = digestOf(presented)
      const isAwaited = offer?.awaited === digest
      if (retry === 'same_payload' && (isAwaited || offer?.awaited === undefined)) {
        offers.set(key, { bucket, awaited: digest })
        return
      }
      // Requests already under way when the bucket runs empty push it below zero, which lengthens the wait.
      offers.set(key, { bucket: takenFrom(bucket), awaited: isAwaited ? undefined : offer?.awaited })
      clients.set(client, {
        bucket: takenFrom(filled(clients.get(client)?.bucket, refusedPerMinute, nowMs)),
      })
    },
    noteUnaccepted(client) {
      const known = unaccepted.get(client)
      const bucket = filled(known?.bucket, unacceptedPerMinute, clock.now())
      unaccepted.set(client, { ...known, bucket: takenFrom(bucket) })
    },
  }
}

const overLimit = (seconds: number) => new OverLimit(seconds, 'refused_payments')

const digestOf = ({ payload }: Presented): string =>
  createHash('sha256')
    .update(JSON.stringify(payload) ?? '')
    .digest('base64')

type Turns = ReturnType<typeof createTurns>

/** Turns of the offers of one client whose payloads are awaited: the one that has waited longest is next. */
function createTurns() {
  const cameAtMs = new Map<string, number>()
  let nextAtMs = 0
  return {
    /** Zero if it is this offer's turn, else the seconds after which it is to come again. */
    take(offer: string, nowMs: number): number {
      if (cameAtMs.has(offer) || cameAtMs.size < awaitedLimits.offersMax) cameAtMs.set(offer, nowMs)
      for (const [each, atMs] of cameAtMs) {
        if (nowMs - atMs <= awaitedLimits.goneMs) break
        cameAtMs.delete(each)
      }
      const [first] = cameAtMs.keys()
      if (first !== offer || nowMs < nextAtMs) return Math.max(1, Math.ceil((nextAtMs - nowMs) / 1_000))
      cameAtMs.delete(offer)
      cameAtMs.set(offer, nowMs)
      nextAtMs = nowMs + awaitedLimits.everyMs
      return 0
    },
  }
}

/**
 * A map of the most recently set entries; the oldest is dropped for a new one. A flood of addresses cannot use that to
 * escape the limit: each of them needs a sealed offer, and addresses above `clientsMax` share one client's offers.
 */
function createRecent<Entry extends { readonly bucket: Bucket }>(entriesMax: number) {
  const entries = new Map<string, Entry>()
  return {
    get: (key: string) => entries.get(key),
    set(key: string, entry: Entry): void {
      entries.delete(key)
      entries.set(key, entry)
      for (const [oldest, { bucket }] of entries) {
        if (entries.size <= entriesMax && entry.bucket.atMs - bucket.atMs < refusalsKeptMs) break
        entries.delete(oldest)
      }
    },
  }
}
