/** The payer's memory of payments, so that one challenge is never paid twice. */

import {
  type ChallengeNonce,
  type Clock,
  type Hex,
  type Offer,
  parseUrl,
  type TxHash,
  unixSeconds,
} from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'

/** Method and URL at which a request ended. The offer made there is paid there. */
export type Target = { readonly method: string; readonly url: string }

/** Method of a request that stands for a tool call. The name of the tool follows the # in its URL. */
export const toolCallMethod = 'CALL'

/**
 * - `open`: being made or being presented by someone right now
 * - `undelivered`: its last presentation ended without the resource; it may be presented again
 * - `delivered`: the resource came
 * - `refused`: the server will not take it, now or later
 */
export type DeliveryState = 'open' | 'undelivered' | 'delivered' | 'refused'

export type PaymentRecord = {
  readonly challengeNonce: ChallengeNonce
  /** The offer as it came, for the verbatim echo. */
  readonly accepted: Offer.PaymentRequirements
  readonly delivery: DeliveryState
  readonly resends: number
  /**
   * Self-transfer only. The transfer is stored before it is broadcast, so that only these bytes are ever
   * sent.
   */
  readonly burn?: { readonly hash: TxHash; readonly raw: Hex }
  /** The finished payload in its wire form. */
  readonly payload?: Readonly<Record<string, unknown>>
  /** The permit nonce of a payload that another payment outran; the next payload carries a higher one. */
  readonly outrunNonce?: string
  /** How often the permit was signed again. */
  readonly resigns?: number
  /** The seller's word that it was used was told, and the chain has not confirmed it yet. */
  readonly isTold?: boolean
  /** An earlier payment for the same request that could still burn: only one of the two can. */
  readonly instead?: ChallengeNonce | undefined
  /** Method and URL of the request the offer answered, as the caller made it. */
  readonly request?: string
  /** Where the offer was made, after redirects: the only place the payment goes to. */
  readonly target?: Target
  /** The parts of a 402 that a paid request echoes beside the offer. */
  readonly echo?: { readonly resource?: unknown; readonly extensions?: unknown }
  /** The PAYMENT-SIGNATURE header as it was sent. */
  readonly header?: string
}

/** Whether anything that could move money was made for a payment. */
export const isSigned = ({ payload, burn, outrunNonce }: PaymentRecord): boolean =>
  payload !== undefined || burn !== undefined || outrunNonce !== undefined

/**
 * The order in which payments for one request are gone on with. Of an earlier one that was replaced, the signed replacement
 * may still burn: an unsigned one beside it would be a second.
 */
export const signedFirst = (a: PaymentRecord, b: PaymentRecord): number =>
  Number(isSigned(b)) - Number(isSigned(a))

/** A payment after `hold`: with the caller's change, or as another holder has it. */
export type Held = { readonly isOurs: boolean; readonly record: PaymentRecord | undefined }

/** Store of payments. In a durable adapter, a change that was resolved must survive a crash. */
export type PaymentMemory = {
  get(challengeNonce: ChallengeNonce): Promise<PaymentRecord | undefined>
  /**
   * Atomic: no other change of this payment runs between reading and writing. Returning undefined drops the
   * record. Rejects with `memory_full` rather than forget a payment that waits at the same host and whose offer has not
   * expired. What waits at one host refuses no other.
   */
  update(
    challengeNonce: ChallengeNonce,
    change: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
  ): Promise<PaymentRecord | undefined>
  /**
   * Like `update`, for one holder at a time. While another holder works on an open payment, nothing changes
   * and `isOurs` is false. Otherwise the caller becomes the holder, until the payment is no longer open, the
   * holder is gone, or the hold grew too old. Only the holder signs for a payment or gives it up. Rejects with
   * `payment_used` when the challenge was paid, and nothing but that is remembered of it.
   */
  hold(
    challengeNonce: ChallengeNonce,
    change: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
  ): Promise<Held>
  /**
   * Atomic: exactly one of several concurrent callers gets an undelivered payment, which is `open` from then
   * on. Rejects with `payment_pending` while another process works on one for this request: it may sign at any moment.
   */
  claimUndelivered(request: string): Promise<PaymentRecord | undefined>
  /** Whether nothing but the name is left of this payment: it is over, and its challenge is not paid again. */
  isOver(challengeNonce: ChallengeNonce): Promise<boolean>
  /** Every payment that is remembered as a whole. A payment that a killed process left open counts as undelivered. */
  list(): Promise<readonly PaymentRecord[]>
}

export type MemoryLimits = Pick<PayerLimits, 'paymentsPerHostMax' | 'retentionSeconds'>

/** Payments that are over and still remembered as a whole. With more of them, only the names are kept. */
export const wholeMax = 64

export const isWaiting = ({ delivery }: PaymentRecord) => delivery === 'open' || delivery === 'undelivered'

/** The chain is asked about a transfer that bought nothing for as long as its amount is reserved. */
export const isNeeded = (record: PaymentRecord) =>
  isWaiting(record) || (record.delivery === 'refused' && record.burn !== undefined)

/** The second from which nobody can ask to pay a challenge again: nothing is signed for it any more. */
export function forgottenAt(
  { accepted: { extra }, burn }: PaymentRecord,
  { retentionSeconds }: Pick<MemoryLimits, 'retentionSeconds'>,
): number {
  const { expiresAt, deadline = expiresAt } = extra
  return (burn ? expiresAt : Math.min(expiresAt, deadline)) + retentionSeconds
}

/** The second from which the server cannot take a payment any more, if it did not before. */
export const surelyOverAt = (
  { accepted }: PaymentRecord,
  { retentionSeconds }: Pick<MemoryLimits, 'retentionSeconds'>,
) => accepted.extra.expiresAt + retentionSeconds

/** Stands for the host beneath a client that tells none. */
export const unknownHost = 'unknown'

/** The host of a request's key. */
export const hostOfRequest = (request: string | undefined): string =>
  parseUrl(request?.split(' ')[1] ?? '')?.host ?? unknownHost

export const memoryFull = (host: string, count: number) =>
  new PayerError('memory_full', `${count} payments wait at ${host}`)

export const paidBefore = (challengeNonce: ChallengeNonce) =>
  new PayerError('payment_used', `challenge ${challengeNonce}`)

/** Memory that ends with the process. */
export function createPaymentMemory({
  clock,
  limits,
}: {
  readonly clock: Clock
  readonly limits: MemoryLimits
}): PaymentMemory {
  const records = new Map<ChallengeNonce, PaymentRecord>()
  /** Payments that wait, by their request and by its host. */
  const waiting = { request: createGroups(), host: createGroups() }
  /** Payments that are over, the first one first: some as a whole, others by their names alone. */
  const whole = new Set<ChallengeNonce>()
  const names = new Map<ChallengeNonce, number>()

  function put(nonce: ChallengeNonce, record: PaymentRecord | undefined): void {
    const before = records.get(nonce)
    for (const [by, keyOf] of [
      [waiting.request, (each: PaymentRecord) => each.request ?? ''],
      [waiting.host, (each: PaymentRecord) => hostOfRequest(each.request)],
    ] as const) {
      if (before) by.remove(keyOf(before), nonce)
      if (record && isWaiting(record)) by.add(keyOf(record), nonce)
    }
    whole.delete(nonce)
    if (record === undefined) records.delete(nonce)
    else {
      records.set(nonce, record)
      if (!isNeeded(record)) whole.add(nonce)
    }
  }

  function shorten(): void {
    const now = unixSeconds(clock)
    for (const [nonce, until] of names) {
      if (until > now) break
      names.delete(nonce)
    }
    for (const nonce of whole) {
      if (whole.size <= wholeMax) break
      const record = records.get(nonce)
      if (record) names.set(nonce, forgottenAt(record, limits))
      put(nonce, undefined)
    }
  }

  function makeRoom({ request }: PaymentRecord): void {
    shorten()
    const there = waiting.host.of(hostOfRequest(request))
    if (there.length < limits.paymentsPerHostMax) return
    const now = unixSeconds(clock)
    const over = there
      .flatMap((nonce) => records.get(nonce) ?? [])
      .filter((record) => surelyOverAt(record, limits) <= now)
    // A transfer stays known: the chain is asked about it for as long as its amount is reserved.
    for (const record of over) put(record.challengeNonce, { ...record, delivery: 'refused' })
    if (over.length === 0) throw memoryFull(hostOfRequest(request), there.length)
  }

  const update: PaymentMemory['update'] = async (challengeNonce, change) => {
    const before = records.get(challengeNonce)
    const after = change(before)
    if (after && before === undefined) makeRoom(after)
    put(challengeNonce, after)
    return after
  }

  return {
    get: async (challengeNonce) => records.get(challengeNonce),
    isOver: async (challengeNonce) => names.has(challengeNonce),
    list: async () => [...records.values()],
    update,
    // This memory belongs to one process, with one promise for each payment: there is no other holder.
    async hold(challengeNonce, change) {
      if (names.has(challengeNonce) && change(undefined)) throw paidBefore(challengeNonce)
      return { isOurs: true, record: await update(challengeNonce, change) }
    },
    async claimUndelivered(request) {
      const [record] = waiting.request
        .of(request)
        .flatMap((nonce) => records.get(nonce) ?? [])
        .filter(({ delivery }) => delivery === 'undelivered')
        .sort(signedFirst)
      if (record === undefined) return undefined
      const claimed: PaymentRecord = { ...record, delivery: 'open' }
      put(record.challengeNonce, claimed)
      return claimed
    },
  }
}

/** Names in groups. An empty group takes no room. */
function createGroups() {
  const groups = new Map<string, Set<ChallengeNonce>>()
  return {
    of: (key: string): readonly ChallengeNonce[] => [...(groups.get(key) ?? [])],
    add(key: string, name: ChallengeNonce): void {
      groups.set(key, (groups.get(key) ?? new Set()).add(name))
    },
    remove(key: string, name: ChallengeNonce): void {
      const group = groups.get(key)
      group?.delete(name)
      if (group?.size === 0) groups.delete(key)
    },
  }
}
