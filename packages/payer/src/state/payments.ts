/** The payer's memory of payments, so that one challenge is never paid twice. */

import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ChallengeNonce,
  type Clock,
  type Hex,
  Json,
  Offer,
  parseChallengeNonce,
  type TxHash,
  unixSeconds,
} from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { errorCode } from './files.js'
import { type Holder, holderNow, isGone } from './holder.js'
import { type Cell, createVersionedFile } from './versioned-file.js'

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
  /** Method and URL of the request the offer answered, as the caller made it. */
  readonly request?: string
  /** Where the offer was made, after redirects: the only place the payment goes to. */
  readonly target?: Target
  /** The parts of a 402 that a paid request echoes beside the offer. */
  readonly echo?: { readonly resource?: unknown; readonly extensions?: unknown }
  /** The PAYMENT-SIGNATURE header as it was sent. */
  readonly header?: string
}

/** A payment after `hold`: with the caller's change, or as another holder has it. */
export type Held = { readonly isOurs: boolean; readonly record: PaymentRecord | undefined }

/** Store of payments. In a durable adapter, a change that was resolved must survive a crash. */
export type PaymentMemory = {
  get(challengeNonce: ChallengeNonce): Promise<PaymentRecord | undefined>
  /**
   * Atomic: no other change of this payment runs between reading and writing. Returning undefined drops the
   * record. Rejects with `memory_full` rather than forget a payment whose offer has not expired.
   */
  update(
    challengeNonce: ChallengeNonce,
    change: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
  ): Promise<PaymentRecord | undefined>
  /**
   * Like `update`, for one holder at a time. While another holder works on an open payment, nothing changes
   * and `isOurs` is false. Otherwise the caller becomes the holder, until the payment is no longer open, the
   * holder is gone, or the hold grew too old. Only the holder signs for a payment or gives it up.
   */
  hold(
    challengeNonce: ChallengeNonce,
    change: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
  ): Promise<Held>
  /**
   * Atomic: exactly one of several concurrent callers gets an undelivered payment, which is `open` from then
   * on.
   */
  claimUndelivered(request: string): Promise<PaymentRecord | undefined>
  /** Every payment that is remembered. A payment that a killed process left open counts as undelivered. */
  list(): Promise<readonly PaymentRecord[]>
}

/** Memory that ends with the process. */
export function createPaymentMemory({
  clock,
  limits,
}: {
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'paymentsMax' | 'retentionSeconds'>
}): PaymentMemory {
  const records = new Map<ChallengeNonce, PaymentRecord>()

  const makeRoom = () => {
    if (records.size < limits.paymentsMax) return
    const now = unixSeconds(clock)
    for (const [nonce, { accepted }] of records) {
      if (accepted.extra.expiresAt + limits.retentionSeconds <= now) records.delete(nonce)
    }
    if (records.size >= limits.paymentsMax) {
      throw new PayerError('memory_full', `${records.size} payments are remembered`)
    }
  }

  const update: PaymentMemory['update'] = async (challengeNonce, change) => {
    const before = records.get(challengeNonce)
    const after = change(before)
    if (after === undefined) {
      records.delete(challengeNonce)
      return undefined
    }
    if (before === undefined) makeRoom()
    records.set(challengeNonce, after)
    return after
  }

  return {
    get: async (challengeNonce) => records.get(challengeNonce),
    list: async () => [...records.values()],
    update,
    // This memory belongs to one process, with one promise for each payment: there is no other holder.
    hold: async (challengeNonce, change) => ({ isOurs: true, record: await update(challengeNonce, change) }),
    async claimUndelivered(request) {
      for (const record of records.values()) {
        if (record.delivery !== 'undelivered' || record.request !== request) continue
        const claimed: PaymentRecord = { ...record, delivery: 'open' }
        records.set(record.challengeNonce, claimed)
        return claimed
      }
      return undefined
    },
  }
}

/**
 * A record and its holder. No record means that the payment was dropped. Its folder stays for a while:
 * removing it at once could remove what another process wrote there meanwhile.
 */
type Stored = { readonly record?: PaymentRecord; readonly holder: Holder }

/** From this number on, payments that are over are removed. */
const crowded = 64

export function createDurablePayments({
  folder,
  clock,
  limits,
}: {
  readonly folder: string
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'paymentsMax' | 'retentionSeconds'>
}): PaymentMemory {
  const holderId = randomUUID()
  const holder = () => holderNow(holderId, clock)

  const cellOf = (nonce: ChallengeNonce): Cell<Stored> =>
    createVersionedFile({ folder: join(folder, nonce), parse: parseStored, clock })

  async function nonces(): Promise<ChallengeNonce[]> {
    try {
      const names = await readdir(folder)
      return names.map(parseChallengeNonce).filter((nonce) => nonce !== undefined)
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return []
      throw new PayerError('state_unusable', `${folder}: ${(error as Error).message}`, { cause: error })
    }
  }

  const drop = (nonce: ChallengeNonce) => rm(join(folder, nonce), { recursive: true, force: true })

  async function makeRoom(): Promise<void> {
    const all = await nonces()
    if (all.length < Math.min(crowded, limits.paymentsMax)) return
    let left = 0
    for (const nonce of all) {
      const stored = await cellOf(nonce).read()
      if (stored?.record && !isOver(stored.record)) left += 1
      else if (!stored || isGone(stored.holder, clock)) await drop(nonce)
    }
    if (left >= limits.paymentsMax) throw new PayerError('memory_full', `${left} payments are remembered`)
  }

  /** Whether a payment is over: nobody will ask for it again, and no money depends on it. */
  const isOver = ({ accepted, delivery, burn }: PaymentRecord) =>
    // The chain is asked about a transfer that bought nothing for as long as its amount is reserved.
    (delivery === 'delivered' || (delivery === 'refused' && burn === undefined)) &&
    accepted.extra.expiresAt + limits.retentionSeconds <= unixSeconds(clock)

  const isFree = ({ record, holder }: Stored) =>
    record?.delivery === 'undelivered' || (record?.delivery === 'open' && isGone(holder, clock))

  const isHeldByAnother = ({ record, holder }: Stored) =>
    record?.delivery === 'open' && holder.id !== holderId && !isGone(holder, clock)

  async function change(
    nonce: ChallengeNonce,
    next: (record: PaymentRecord | undefined) => PaymentRecord | undefined,
    isRefused: (before: Stored) => boolean,
  ): Promise<Held> {
    const cell = cellOf(nonce)
    if ((await cell.read())?.record === undefined) {
      if (next(undefined) === undefined) return { isOurs: true, record: undefined }
      await makeRoom()
    }
    let isOurs = true
    const { record } = await cell.update((before) => {
      isOurs = before === undefined || !isRefused(before)
      if (before !== undefined && !isOurs) return before
      const after = next(before?.record)
      return { ...(after && { record: after }), holder: holder() }
    })
    return { isOurs, record }
  }

  return {
    get: async (nonce) => (await cellOf(nonce).read())?.record,

    update: async (nonce, next) => (await change(nonce, next, () => false)).record,

    hold: (nonce, next) => change(nonce, next, isHeldByAnother),

    async claimUndelivered(request) {
      for (const nonce of await nonces()) {
        const cell = cellOf(nonce)
        const stored = await cell.read()
        if (!stored || stored.record?.request !== request || !isFree(stored)) continue
        let isMine = false
        const { record } = await cell.update((before) => {
          const { record: now } = before ?? {}
          isMine = before !== undefined && now !== undefined && isFree(before)
          if (!before || !now || !isMine) return before ?? { holder: holder() }
          return { record: { ...now, delivery: 'open' }, holder: holder() }
        })
        if (isMine && record) return record
      }
      return undefined
    },

    async list() {
      const stored = await Promise.all((await nonces()).map((nonce) => cellOf(nonce).read()))
      return stored.flatMap((each) => {
        if (!each?.record) return []
        return [isFree(each) ? { ...each.record, delivery: 'undelivered' as const } : each.record]
      })
    },
  }
}

const deliveries = ['open', 'undelivered', 'delivered', 'refused']

function parseStored(raw: unknown): Stored | undefined {
  if (!Json.isObject(raw) || !Json.isObject(raw.holder)) return undefined
  const { record } = raw
  if (record === undefined) return raw as Stored
  if (!Json.isObject(record) || !Offer.parse(record.accepted).ok) return undefined
  if (!parseChallengeNonce(record.challengeNonce) || !deliveries.includes(String(record.delivery)))
    return undefined
  return raw as Stored
}
