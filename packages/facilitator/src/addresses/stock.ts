/** Addresses that are ready, and the callers that wait for one. */
import type { Hex } from '@svc-zerc20/zk'
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
  /** So many of the last ones only sellers with a token take. */
  readonly keptForSellers: number
  readonly onError: (error: unknown) => void
}) {
  const { store, clock, restore, keptForSellers, onError } = deps
  let ready: ReadyAddress[] = []
  /** Addresses that other daemons may take as well. */
  let elsewhere = 0
  const line = createWaitLine<ReadyAddress>(clock)
  const size = () => ready.length + elsewhere

  let turn: Caller = 'stranger'
  /**
   * Hands out a new address, or keeps it. Where sellers and strangers both lack one they get one in turn, so that neither a
   * flood of strangers nor a busy seller shuts the others out.
   */
  function add(address: ReadyAddress): void {
    const isSellersDue = line.has('seller') || size() < keptForSellers
    if (isSellersDue && line.has('stranger')) turn = turn === 'seller' ? 'stranger' : 'seller'
    else turn = isSellersDue ? 'seller' : 'stranger'
    if (!line.serve(address, turn)) ready.push(address)
  }

  return {
    size,
    /** Addresses that can be handed out here, now. */
    held: (): readonly Hex[] => ready.map(({ challengeNonce }) => challengeNonce),
    /** Takes over addresses that are this daemon's own from now on. */
    hold(addresses: readonly ReadyAddress[]): void {
      elsewhere = Math.max(0, elsewhere - addresses.length)
      for (const address of addresses) add(address)
    },
    /** Forgets addresses that are this daemon's own no more. */
    lose(nonces: readonly Hex[]): void {
      ready = ready.filter(({ challengeNonce }) => !nonces.includes(challengeNonce))
    },
    /** Sets the number of addresses that other daemons may take, too. */
    setElsewhere(count: number): void {
      elsewhere = count
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
      for (const address of valid) add(address)
    },
    /** Adds a new address, and serves callers that wait. An address that is not held is left to any daemon. */
    addMined(address: ReadyAddress, isHeld = true): void {
      // A crash before it is stored loses the work and nothing else.
      store?.add(address).catch(onError)
      if (isHeld) add(address)
      else elsewhere += 1
    },
    /** An address that is there for such a caller. */
    take: (caller: Caller) => (caller === 'stranger' && size() <= keptForSellers ? undefined : ready.shift()),
    wait: line.join,
    /** Takes back an address from a caller. */
    putBack: add,
    dismiss: line.dismiss,
  }
}

/** A clock's sleep. An aborted sleep may resolve or reject; both are its end. */
export type Sleeper = { sleep(ms: number, signal: AbortSignal): Promise<void> }

/** A seller comes with its token. */
export type Caller = 'seller' | 'stranger'

/** Callers that wait for one item each. */
export function createWaitLine<Item>(clock: Sleeper) {
  type Waiter = { readonly caller: Caller; end(item: Item | undefined): void }
  const waiters = new Set<Waiter>()
  const firstOf = (caller: Caller) => [...waiters].find((waiter) => waiter.caller === caller)
  return {
    length: () => waiters.size,
    has: (caller: Caller) => firstOf(caller) !== undefined,
    /** Waits at most `waitMs` for an item; undefined when none came, the caller left or the line was dismissed. */
    join: (waitMs: number, caller: Caller, gone?: AbortSignal): Promise<Item | undefined> =>
      new Promise((resolve) => {
        const left = new AbortController()
        const giveUp = () => waiter.end(undefined)
        const waiter: Waiter = {
          caller,
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
    /** Gives the item to the first such caller in line. False when none waits. */
    serve(item: Item, caller: Caller): boolean {
      const next = firstOf(caller)
      next?.end(item)
      return next !== undefined
    },
    /** Sends every caller away without an item. */
    dismiss(): void {
      for (const waiter of [...waiters]) waiter.end(undefined)
    },
  }
}
