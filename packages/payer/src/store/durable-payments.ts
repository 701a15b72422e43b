/** The payments of an account, each in a folder of its own, for all processes that share the state folder. */
import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChallengeNonce, Json, Offer, parseChallengeNonce } from '@svc-zerc20/protocol'
import { type Clock, unixSeconds } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import type { Held, PaymentMemory, PaymentRecord } from '../payment/payment-memory.js'
import type { Cell } from './cell.js'
import { errorCode } from './files.js'
import { type Holder, holderNow, isGone } from './holder.js'
import { createVersionedFile } from './versioned-file.js'

/**
 * A record and its holder. No record means that the payment was dropped. Its folder stays for a while:
 * removing it at once could remove what another process wrote there meanwhile.
 */
type Stored = { readonly record?: PaymentRecord; readonly holder: Holder }

export type DurablePayments = PaymentMemory & {
  /** Every payment that is remembered. A payment that a killed process left open counts as undelivered. */
  list(): Promise<readonly PaymentRecord[]>
}

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
}): DurablePayments {
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
