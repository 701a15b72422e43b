/** Addresses that are ready, and the callers that wait for one. */
import type { Hex } from '@svc-zerc20/zk'
import type { Shares } from '../payment/issue/shares.js'
import type { ReadyAddress } from '../payment/ports.js'

/**
 * A store in which mined addresses outlive the process. An address leaves it in the same moment in which its challenge is
 * recorded, so that none is handed out twice, whenever the process dies.
 */
export type AddressStore = {
  load(): Promise<readonly ReadyAddress[]>
  add(address: ReadyAddress): Promise<void>
  /** Forgets addresses that are not valid any more. */
  drop(nonces: readonly Hex[]): Promise<void>
}

export type AddressStock = {
  size(): number
  /** Callers that wait. */
  waiting(): number
  /** Takes over the addresses of the store that are still valid, and says how many there are. Call it once, first. */
  open(): Promise<number>
  /** Adds a new address, and serves callers that wait. */
  addMined(address: ReadyAddress): void
  /** An address, when the caller's share allows one. */
  takeFor(key: string): ReadyAddress | undefined
  readonly wait: WaitLine<ReadyAddress>['join']
  /** Takes back an address from a caller. */
  putBack(address: ReadyAddress, key: string): void
  /** Sends every waiting caller away without an address. */
  dismiss(): void
}

export function createAddressStock(deps: {
  /** Without a store the addresses end with the process. */
  readonly store: AddressStore | undefined
  readonly clock: Sleeper
  readonly restore: (stored: ReadyAddress) => ReadyAddress | undefined
  readonly shares: Shares
  readonly targetSize: number
  readonly onError: (error: unknown) => void
}): AddressStock {
  const { store, clock, restore, shares, targetSize, onError } = deps
  const ready: ReadyAddress[] = []
  const line = createWaitLine<ReadyAddress>(clock)
  const takers = createTakers(shares, targetSize)
  const size = () => ready.length

  function serveLine(): void {
    while (ready.length > 0) {
      const turn = line.next((key) => shares.rank(key, size()))
      const address = ready[0]
      if (turn === undefined || address === undefined) return
      ready.shift()
      takers.took(turn.key)
      turn.serve(address)
    }
  }

  return {
    size,
    waiting: line.length,
    async open() {
      const stored = (await store?.load()) ?? []
      const valid = stored.flatMap((each) => restore(each) ?? [])
      const kept = new Set<Hex>(valid.map(({ challengeNonce }) => challengeNonce))
      const gone = stored.map(({ challengeNonce }) => challengeNonce).filter((nonce) => !kept.has(nonce))
      if (gone.length > 0) await store?.drop(gone)
      ready.push(...valid)
      serveLine()
      return valid.length
    },
    addMined(address) {
      // A crash before it is stored loses the work and nothing else.
      store?.add(address).catch(onError)
      ready.push(address)
      takers.oldestReplaced()
      serveLine()
    },
    takeFor(key) {
      const address = shares.rank(key, size()) === undefined ? undefined : ready.shift()
      if (address) takers.took(key)
      return address
    },
    wait: line.join,
    putBack(address, key) {
      ready.push(address)
      takers.gaveBack(key)
      serveLine()
    },
    dismiss: line.dismiss,
  }
}

/** Callers that took addresses which no new address has replaced yet. */
function createTakers(shares: Shares, targetSize: number) {
  /** Oldest first. */
  const keys: string[] = []

  function oldestReplaced(): void {
    const key = keys.shift()
    if (key !== undefined) shares.giveBack(key)
  }

  return {
    took(key: string): void {
      shares.take(key)
      keys.push(key)
      // A store from a larger pool can hold more than the target: takers beyond one whole pool count no more.
      if (keys.length > targetSize) oldestReplaced()
    },
    /** A new address replaces the one that was taken first. */
    oldestReplaced,
    gaveBack(key: string): void {
      const place = keys.lastIndexOf(key)
      if (place < 0) return
      keys.splice(place, 1)
      shares.giveBack(key)
    },
  }
}

/** A clock's sleep. An aborted sleep may resolve or reject; both are its end. */
export type Sleeper = { sleep(ms: number, signal: AbortSignal): Promise<void> }

/** Callers that wait for one item each. Each caller is known by its key. */
export type WaitLine<Item> = {
  length(): number
  /** Waits at most `waitMs` for an item; undefined when none came, the caller left or the line was dismissed. */
  join(waitMs: number, key: string, gone?: AbortSignal): Promise<Item | undefined>
  /**
   * The caller that is next: the lowest rank, and the first in line among equals. Undefined when nobody has a
   * rank.
   */
  next(rank: (key: string) => number | undefined): Turn<Item> | undefined
  /** Sends every caller away without an item. */
  dismiss(): void
}

/** A turn is served at once or never: other callers may come or go meanwhile. */
export type Turn<Item> = { readonly key: string; serve(item: Item): void }

export function createWaitLine<Item>(clock: Sleeper): WaitLine<Item> {
  type Waiter = { readonly key: string; end(item: Item | undefined): void }
  const waiters = new Set<Waiter>()
  return {
    length: () => waiters.size,
    join: (waitMs, key, gone) =>
      new Promise((resolve) => {
        const left = new AbortController()
        const giveUp = () => waiter.end(undefined)
        const waiter: Waiter = {
          key,
          end(item) {
            if (!waiters.delete(waiter)) return // it ended before; that its sleep ends too is no news
            left.abort()
            gone?.removeEventListener('abort', giveUp)
            resolve(item)
          },
        }
        waiters.add(waiter)
        gone?.addEventListener('abort', giveUp)
        clock.sleep(waitMs, left.signal).then(giveUp, giveUp)
        if (gone?.aborted) giveUp()
      }),
    next(rank) {
      const ranks = new Map<string, number | undefined>()
      let first: Waiter | undefined
      let lowest = Number.POSITIVE_INFINITY
      for (const waiter of waiters) {
        if (!ranks.has(waiter.key)) ranks.set(waiter.key, rank(waiter.key))
        const own = ranks.get(waiter.key)
        if (own === undefined || own >= lowest) continue
        first = waiter
        lowest = own
      }
      return first && { key: first.key, serve: first.end }
    },
    dismiss() {
      for (const waiter of [...waiters]) waiter.end(undefined)
    },
  }
}
