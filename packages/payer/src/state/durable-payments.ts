/** The memory of payments in the state folder: a folder for each payment that is not over, shared by all processes. */

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ChallengeNonce,
  type Clock,
  Json,
  Offer,
  parseChallengeNonce,
  unixSeconds,
} from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import { type Holder, holderNow, isGone } from './holder.js'
import { createPaymentIndex, type PaymentIndex } from './payment-index.js'
import {
  forgottenAt,
  type Held,
  hostOfRequest,
  isNeeded,
  isWaiting,
  type MemoryLimits,
  memoryFull,
  type PaymentMemory,
  type PaymentRecord,
  paidBefore,
  signedFirst,
  surelyOverAt,
  wholeMax,
} from './payments.js'
import { type Cell, createVersionedFile } from './versioned-file.js'

/**
 * A record and its holder. No record means that the payment was dropped. Its folder stays for a while:
 * removing it at once could remove what another process wrote there meanwhile.
 */
type Stored = { readonly record?: PaymentRecord; readonly holder: Holder }

type Next = (record: PaymentRecord | undefined) => PaymentRecord | undefined

type Change = (
  nonce: ChallengeNonce,
  next: Next,
  isRefused: (before: Stored) => boolean,
  isForPayment?: boolean,
) => Promise<Held>

export function createDurablePayments({
  folder,
  clock,
  limits,
}: {
  readonly folder: string
  readonly clock: Clock
  readonly limits: MemoryLimits
}): PaymentMemory {
  const holderId = randomUUID()
  const holder = () => holderNow(holderId, clock)
  const index = createPaymentIndex(folder)

  const cellOf = (nonce: ChallengeNonce): Cell<Stored> =>
    createVersionedFile({ folder: join(folder, nonce), parse: parseStored, clock })

  /** Payments of which this holder could not write how they ended. It is not at work on them any more. */
  const left = new Set<ChallengeNonce>()
  const { isFree, isHeldByAnother, claim } = createClaims(holderId, left, clock)

  const room = createRoom({
    index,
    clock,
    limits,
    read: (nonce) => cellOf(nonce).read(),
    remove: (nonce) => rm(join(folder, nonce), { recursive: true, force: true }),
    end: async (nonce) => {
      await change(nonce, (before) => before && { ...before, delivery: 'refused' }, isHeldByAnother)
    },
  })

  const tryChange: Change = async (nonce, next, isRefused, isForPayment = false) => {
    const cell = cellOf(nonce)
    const known = (await cell.read())?.record
    const planned = next(known)
    if (known === undefined) {
      if (planned === undefined) return { isOurs: true, record: undefined }
      if (isForPayment && (await index.isPaid(nonce))) throw paidBefore(nonce)
      await room.shorten()
      await room.makeAt(planned.request)
    }
    // The name comes first: a payment without one would not be found by its request, and be paid a second time.
    if (planned && !waitsAs(known, planned)) await index.waits(planned)
    let isOurs = true
    let before: PaymentRecord | undefined
    const { record } = await cell.update((stored) => {
      isOurs = stored === undefined || !isRefused(stored)
      if (stored !== undefined && !isOurs) return stored
      before = stored?.record
      const after = next(before)
      return { ...(after && { record: after }), holder: holder() }
    })
    if (isOurs) await noteChange(nonce, before, record)
    return { isOurs, record }
  }

  const change = noting(tryChange, left)

  async function noteChange(
    nonce: ChallengeNonce,
    before: PaymentRecord | undefined,
    after: PaymentRecord | undefined,
  ): Promise<void> {
    // Another process may have removed the name while this one wrote.
    if (after && !waitsAs(before, after)) await index.waits(after)
    if (!(after && isNeeded(after))) await index.over(nonce)
    if (before && !waitsAs(after, before)) await index.waitsNoMore(before)
  }

  return {
    get: async (nonce) => (await cellOf(nonce).read())?.record,

    isOver: index.isPaid,

    update: async (nonce, next) => (await change(nonce, next, () => false)).record,

    hold: (nonce, next) => change(nonce, next, isHeldByAnother, true),

    async claimUndelivered(request) {
      const read = (await index.waitingFor(request)).map((nonce) => cellOf(nonce).read())
      const stored = (await Promise.all(read)).filter((each) => each?.record?.request === request)
      if (stored.some((each) => each && isHeldByAnother(each))) {
        throw new PayerError('payment_pending', 'another process is at work on the same purchase')
      }
      for (const { challengeNonce } of stored.flatMap((each) => each?.record ?? []).sort(signedFirst)) {
        const record = await claim(cellOf(challengeNonce), request)
        if (record) return record
      }
      return undefined
    },

    async list() {
      const stored = await Promise.all((await index.all()).map((nonce) => cellOf(nonce).read()))
      return stored.flatMap((each) => {
        if (!each?.record) return []
        return [isFree(each) ? { ...each.record, delivery: 'undelivered' as const } : each.record]
      })
    },
  }
}

/** Whether the index need not be told of a record: it does not wait, or the other one waits under the same name. */
const waitsAs = (other: PaymentRecord | undefined, record: PaymentRecord): boolean =>
  !isWaiting(record) || (other !== undefined && isWaiting(other) && other.request === record.request)

/** Notes the payments of which a change could not be written: whoever was at work on one has ended. */
function noting(change: Change, left: Set<ChallengeNonce>): Change {
  return async (...given) => {
    const [nonce] = given
    try {
      const held = await change(...given)
      left.delete(nonce)
      return held
    } catch (error) {
      left.add(nonce)
      throw error
    }
  }
}

/** Who may work on a payment. */
function createClaims(holderId: string, left: Set<ChallengeNonce>, clock: Clock) {
  const isFree = ({ record, holder }: Stored) =>
    record?.delivery === 'undelivered' ||
    (record?.delivery === 'open' &&
      (isGone(holder, clock) || (holder.id === holderId && left.has(record.challengeNonce))))

  return {
    isFree,

    isHeldByAnother: ({ record, holder }: Stored) =>
      record?.delivery === 'open' && holder.id !== holderId && !isGone(holder, clock),

    /** The payment of a cell, if it is free and for this request: the caller's from now on. */
    async claim(cell: Cell<Stored>, request: string): Promise<PaymentRecord | undefined> {
      const stored = await cell.read()
      if (!stored || stored.record?.request !== request || !isFree(stored)) return undefined
      const holder = holderNow(holderId, clock)
      let isMine = false
      const { record } = await cell.update((before) => {
        const { record: now } = before ?? {}
        isMine = before !== undefined && now !== undefined && isFree(before)
        return before && now && isMine
          ? { record: { ...now, delivery: 'open' }, holder }
          : (before ?? { holder })
      })
      if (!isMine || !record) return undefined
      left.delete(record.challengeNonce)
      return record
    },
  }
}

/** Keeps the memory small. */
function createRoom({
  index,
  clock,
  limits,
  read,
  remove,
  end,
}: {
  readonly index: PaymentIndex
  readonly clock: Clock
  readonly limits: MemoryLimits
  readonly read: (nonce: ChallengeNonce) => Promise<Stored | undefined>
  readonly remove: (nonce: ChallengeNonce) => Promise<void>
  /** Ends a payment that waits, unless somebody is at work on it. */
  readonly end: (nonce: ChallengeNonce) => Promise<void>
}) {
  /** Payments that are over and could not be shortened when this was last tried. */
  let overBefore = 0

  async function shortenOne(nonce: ChallengeNonce): Promise<void> {
    const stored = await read(nonce)
    if (stored?.record && isNeeded(stored.record)) return index.overNoMore(nonce)
    if (stored && !stored.record && !isGone(stored.holder, clock)) return
    if (stored?.record) await index.paid(nonce, forgottenAt(stored.record, limits), unixSeconds(clock))
    await remove(nonce)
    await index.overNoMore(nonce)
  }

  return {
    /** Keeps the names alone of payments that are over, if there are many. */
    async shorten(): Promise<void> {
      const over = await index.allOver()
      if (over.length < overBefore + wholeMax) return
      for (const nonce of over) await shortenOne(nonce)
      overBefore = (await index.allOver()).length
    },

    /** Ends what waits at a host without need. Only beyond the bound are the payments there read. */
    async makeAt(request: string | undefined): Promise<void> {
      const there = await index.waitingAt(request)
      if (there.length < limits.paymentsPerHostMax) return
      const now = unixSeconds(clock)
      for (const nonce of there) {
        const record = (await read(nonce))?.record
        // Without a payment the name is a killed process', or a payment is about to come: it then gets its name again.
        if (!record || !isWaiting(record)) await index.waitsNotAt(request, nonce)
        else if (surelyOverAt(record, limits) <= now) await end(nonce)
      }
      const { length } = await index.waitingAt(request)
      if (length >= limits.paymentsPerHostMax) throw memoryFull(hostOfRequest(request), length)
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
