/** Addresses that are ready, and the callers that wait for one. */
import type { Hex } from '@svc-zerc20/zk'
import { commonOf, rankOf, type ShareTerms } from '../payment/issue/shares.js'
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

export type AddressStock = ReturnType<typeof createAddressStock>

export function createAddressStock(deps: {
  /** Without a store the addresses end with the process. */
  readonly store: AddressStore | undefined
  readonly clock: Sleeper
  readonly restore: (stored: ReadyAddress) => ReadyAddress | undefined
  readonly shares: ShareTerms
  readonly targetSize: number
  /** Other daemons fill it as well. */
  readonly isShared: boolean
  readonly onError: (error: unknown) => void
}) {
  const { store, clock, restore, shares, targetSize, onError } = deps
  let ready: ReadyAddress[] = []
  /** Addresses that were handed out and that a shared stock still has. Empty without one. */
  const handedOut = new Set<Hex>()
  const line = createWaitLine<ReadyAddress>(clock)
  /** Callers that took addresses which no new address has replaced yet, oldest first. */
  const takers: string[] = []
  const held = {
    of: (key: string) => takers.filter((taker) => taker === key).length,
    get all() {
      return takers.length
    },
  }
  const known = (): ReadonlySet<Hex> =>
    new Set([...ready.map(({ challengeNonce }) => challengeNonce), ...handedOut])
  const size = () => ready.length
  const rank = (key: string) => rankOf(shares, held, key, size())

  function took({ challengeNonce }: ReadyAddress, key: string): void {
    if (deps.isShared) handedOut.add(challengeNonce)
    takers.push(key)
    // A store from a larger pool can hold more than the target: takers beyond one whole pool count no more.
    if (takers.length > targetSize) takers.shift()
  }

  function serveLine(): void {
    while (ready.length > 0) {
      const [address] = ready
      const key = address && line.serve(address, rank)
      if (!address || key === undefined) return
      ready.shift()
      took(address, key)
    }
  }

  return {
    size,
    /** Addresses that are reserved for nobody. */
    common: () => commonOf(shares, held, size()),
    /** The addresses of the shared stock that need not be read. */
    known,
    /** Takes in what the shared stock has, when this was asked for `before`, and the addresses of it that were read. */
    follow(before: ReadonlySet<Hex>, there: ReadonlySet<Hex>, read: readonly ReadyAddress[]): void {
      const isGone = (nonce: Hex) => before.has(nonce) && !there.has(nonce)
      ready = ready.filter(({ challengeNonce }) => !isGone(challengeNonce))
      for (const nonce of handedOut) if (isGone(nonce)) handedOut.delete(nonce)
      const own = known()
      const added = read.filter(({ challengeNonce }) => !own.has(challengeNonce))
      ready.push(...added)
      // New ones replace those that were taken first.
      takers.splice(0, added.length)
      serveLine()
    },
    /** Callers that wait. */
    waiting: line.length,
    /** Takes over the addresses of the store that are still valid. Call it once, first. */
    async open(): Promise<void> {
      const stored = (await store?.load()) ?? []
      const valid = stored.flatMap((each) => restore(each) ?? [])
      const kept = new Set<Hex>(valid.map(({ challengeNonce }) => challengeNonce))
      const gone = stored.map(({ challengeNonce }) => challengeNonce).filter((nonce) => !kept.has(nonce))
      if (gone.length > 0) await store?.drop(gone)
      ready.push(...valid)
      serveLine()
    },
    /** Adds a new address, and serves callers that wait. */
    addMined(address: ReadyAddress): void {
      // A crash before it is stored loses the work and nothing else.
      store?.add(address).catch(onError)
      ready.push(address)
      // It replaces the one that was taken first.
      takers.shift()
      serveLine()
    },
    /** An address, when the caller's share allows one. */
    takeFor(key: string): ReadyAddress | undefined {
      const address = rank(key) === undefined ? undefined : ready.shift()
      if (address) took(address, key)
      return address
    },
    wait: line.join,
    /** Takes back an address from a caller. */
    putBack(address: ReadyAddress, key: string): void {
      handedOut.delete(address.challengeNonce)
      ready.push(address)
      const place = takers.lastIndexOf(key)
      if (place >= 0) takers.splice(place, 1)
      serveLine()
    },
    dismiss: line.dismiss,
  }
}

/** A clock's sleep. An aborted sleep may resolve or reject; both are its end. */
export type Sleeper = { sleep(ms: number, signal: AbortSignal): Promise<void> }

/** Callers that wait for one item each. Each caller is known by its key. */
export type WaitLine<Item> = ReturnType<typeof createWaitLine<Item>>

export function createWaitLine<Item>(clock: Sleeper) {
  type Waiter = { readonly key: string; end(item: Item | undefined): void }
  const waiters = new Set<Waiter>()
  return {
    length: () => waiters.size,
    /** Waits at most `waitMs` for an item; undefined when none came, the caller left or the line was dismissed. */
    join: (waitMs: number, key: string, gone?: AbortSignal): Promise<Item | undefined> =>
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
    /**
     * Gives the item to the caller that is next, and says who that was: the lowest rank, and the first in line among equals.
     * Undefined when nobody has a rank.
     */
    serve(item: Item, rank: (key: string) => number | undefined): string | undefined {
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
      first?.end(item)
      return first?.key
    },
    /** Sends every caller away without an item. */
    dismiss(): void {
      for (const waiter of [...waiters]) waiter.end(undefined)
    },
  }
}
