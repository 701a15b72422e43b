/**
 * Addresses on their way into the store. A challenge is answered when the journal has it; its address follows soon
 * after, many in one write. Until then neither the ledger nor the journal may forget the challenge.
 */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { Challenge } from '../../payment/records.js'
import type { IssuedStore } from './store.js'

export type IssuedAddresses = {
  readonly store: IssuedStore
  /** Throws `SvcError('journal_failed')` when so many addresses wait that the disk must be refusing them. */
  assertRoom(): void
  add(challenge: Challenge): void
  /** Challenges that expire at this second or before are all on the disk: everybody else may forget them. */
  heldUntil(): number
  /** Resolves when every added address is on the disk. Throws when the disk refuses. */
  durable(): Promise<void>
  close(): Promise<void>
}

type IssuedAddressesDeps = {
  readonly store: IssuedStore
  /** Challenges that earlier runs recorded. All of them are in the store before anything is forgotten. */
  readonly recorded: Iterable<Challenge>
  /** Unix seconds: addresses that were issued before need not be remembered. */
  readonly issuedSince: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly onFailure: (err: unknown) => void
  readonly limits: {
    /** Addresses in one write: looking them up must not make others wait for long. */
    readonly addressesPerWrite: number
    /** Addresses that come within this time share a write. */
    readonly addressGatherMs: number
    readonly addressRetryMs: number
    readonly addressesWaitingMax: number
  }
}

export function createIssuedAddresses(deps: IssuedAddressesDeps): IssuedAddresses {
  const { store, clock, limits } = deps
  const earlier = createEarlierAddresses(deps)
  const waiting = createWaitingAddresses(store, limits.addressesPerWrite)
  const closing = new AbortController()
  let writing: Promise<void> | undefined
  let lastFailure: unknown
  const isWorkLeft = () => waiting.size() > 0 || !earlier.isWritten()

  async function writeAll(): Promise<void> {
    if (!earlier.isWritten()) await earlier.write()
    await waiting.write()
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
      if (!closing.signal.aborted && isWorkLeft()) void start()
    })
    return writing
  }

  void start()
  return {
    store,
    assertRoom() {
      if (waiting.size() < limits.addressesWaitingMax) return
      throw new SvcError('journal_failed', 'issued addresses cannot be written', { cause: lastFailure })
    },
    add(challenge) {
      waiting.add(challenge)
      void start()
    },
    heldUntil: () => (earlier.isWritten() ? waiting.firstExpiry() - 1 : 0),
    async durable() {
      while (isWorkLeft()) {
        await start()
        if (lastFailure !== undefined) throw lastFailure
      }
    },
    async close() {
      closing.abort()
      await writing
      // A failure here loses nothing: the journal has every challenge, and the next start writes the missing ones.
      await writeAll().catch(() => undefined)
      await store.close()
    },
  }
}

/** Addresses of earlier runs: those that the store still lacks are written once, part by part. */
function createEarlierAddresses({ store, recorded, issuedSince, limits }: IssuedAddressesDeps) {
  const challenges = recorded[Symbol.iterator]()
  let isWritten = false
  /** Taken from the iterator and not written yet: a write that failed is tried again with these. */
  let taken: readonly Challenge[] = []

  return {
    isWritten: () => isWritten,
    async write(): Promise<void> {
      for (let isEnd = false; !isEnd; ) {
        const part: Challenge[] = [...taken]
        while (part.length < limits.addressesPerWrite && !isEnd) {
          const next = challenges.next()
          if (next.done) isEnd = true
          else part.push(next.value)
        }
        taken = part.filter(({ issuedAt }) => issuedAt >= issuedSince)
        await store.put(taken)
        taken = []
        // A long list must not make others wait.
        await new Promise(setImmediate)
      }
      isWritten = true
    },
  }
}

/** Addresses of this run that are not in the store yet. */
function createWaitingAddresses(store: IssuedStore, perWrite: number) {
  const waiting = new Map<Address, Challenge>()
  let firstExpiry = Number.POSITIVE_INFINITY

  return {
    size: () => waiting.size,
    /** The earliest expiry among them; infinite when none waits. */
    firstExpiry: () => firstExpiry,
    add(challenge: Challenge): void {
      waiting.set(challenge.payTo, challenge)
      firstExpiry = Math.min(firstExpiry, challenge.expiresAt)
    },
    async write(): Promise<void> {
      while (waiting.size > 0) {
        const part = [...waiting.values()].slice(0, perWrite)
        await store.put(part)
        for (const challenge of part) waiting.delete(challenge.payTo)
        const expiries = [...waiting.values()].map(({ expiresAt }) => expiresAt)
        firstExpiry = expiries.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
      }
    },
  }
}
