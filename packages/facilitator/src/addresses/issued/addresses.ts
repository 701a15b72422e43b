/**
 * Addresses on their way into the store. A challenge is answered when the journal has it; its address follows soon
 * after, many in one write, and until then the ledger and the journal may not forget the challenge.
 */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { Challenge } from '../../payment/records.js'
import type { IssuedStore } from './store.js'

export type IssuedAddresses = {
  readonly store: IssuedStore
  /** Throws `SvcError('journal_failed')` when so many wait that the disk must be refusing them. */
  assertRoom(): void
  add(challenge: Challenge): void
  /** Challenges that expire at this second or before are all on the disk: whoever else knows them may forget them. */
  heldUntil(): number
  /** Resolves when everything that was added is on the disk. Throws when the disk refuses. */
  durable(): Promise<void>
  close(): Promise<void>
}

export function createIssuedAddresses(deps: {
  readonly store: IssuedStore
  /** What earlier runs recorded: all of it is in the store before anything is forgotten. */
  readonly recorded: Iterable<Challenge>
  /** Unix seconds: what was issued before need not be remembered. */
  readonly issuedSince: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly onFailure: (err: unknown) => void
  readonly limits: {
    /** Written at once, and while they are looked up nothing else waits for long. */
    readonly addressesPerWrite: number
    /** Addresses that come within this time share a write. */
    readonly addressGatherMs: number
    readonly addressRetryMs: number
    readonly addressesWaitingMax: number
  }
}): IssuedAddresses {
  const { store, clock, limits } = deps
  const waiting = new Map<Address, Challenge>()
  let firstWaitingExpires = Number.POSITIVE_INFINITY
  const earlier = deps.recorded[Symbol.iterator]()
  const closing = new AbortController()
  let isCaughtUp = false
  let writing: Promise<void> | undefined
  let lastFailure: unknown

  /** What was taken from the earlier ones and is not written yet. */
  let taken: readonly Challenge[] = []

  /** Those that are old enough to be forgotten are passed over; a long list must not hold up everybody else. */
  async function writeEarlier(): Promise<void> {
    for (let isEnd = false; !isEnd; ) {
      const part: Challenge[] = [...taken]
      while (part.length < limits.addressesPerWrite && !isEnd) {
        const next = earlier.next()
        if (next.done) isEnd = true
        else part.push(next.value)
      }
      taken = part.filter(({ issuedAt }) => issuedAt >= deps.issuedSince)
      await store.put(taken)
      taken = []
      await new Promise(setImmediate)
    }
    isCaughtUp = true
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.size > 0) {
      const part = [...waiting.values()].slice(0, limits.addressesPerWrite)
      await store.put(part)
      for (const challenge of part) waiting.delete(challenge.payTo)
      const expiries = [...waiting.values()].map(({ expiresAt }) => expiresAt)
      firstWaitingExpires = expiries.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    }
  }

  async function writeAll(): Promise<void> {
    if (!isCaughtUp) await writeEarlier()
    await writeWaiting()
  }

  async function run(): Promise<void> {
    await clock.sleep(limits.addressGatherMs, closing.signal)
    try {
      await writeAll()
      lastFailure = undefined
    } catch (err) {
      lastFailure = err
      deps.onFailure(err)
      await clock.sleep(limits.addressRetryMs, closing.signal)
    }
  }

  function start(): Promise<void> {
    writing ??= run().finally(() => {
      writing = undefined
      if (!closing.signal.aborted && (waiting.size > 0 || !isCaughtUp)) void start()
    })
    return writing
  }

  void start()
  return {
    store,
    assertRoom() {
      if (waiting.size < limits.addressesWaitingMax) return
      throw new SvcError('journal_failed', 'issued addresses cannot be written', { cause: lastFailure })
    },
    add(challenge) {
      waiting.set(challenge.payTo, challenge)
      firstWaitingExpires = Math.min(firstWaitingExpires, challenge.expiresAt)
      void start()
    },
    heldUntil: () => (isCaughtUp ? firstWaitingExpires - 1 : 0),
    async durable() {
      while (waiting.size > 0 || !isCaughtUp) {
        await start()
        if (lastFailure !== undefined) throw lastFailure
      }
    },
    async close() {
      closing.abort()
      await writing
      // Best effort: the journal has them all, and the next start puts what is missing.
      await writeAll().catch(() => undefined)
      await store.close()
    },
  }
}
