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
  /** Other daemons fill it as well. */
  readonly isShared: boolean
  readonly onError: (error: unknown) => void
}) {
  const { store, clock, restore, keptForSellers, isShared, onError } = deps
  let ready: ReadyAddress[] = []
  /** Addresses that were handed out and that a shared stock still has. Empty without one. */
  const handedOut = new Set<Hex>()
  const line = createWaitLine<ReadyAddress>(clock)
  const size = () => ready.length
  const known = (): ReadonlySet<Hex> =>
    new Set([...ready.map(({ challengeNonce }) => challengeNonce), ...handedOut])

  let turn: Caller = 'stranger'
  /**
   * Hands out a new address, or keeps it. Where sellers and strangers both lack one they get one in turn, so that neither a
   * flood of strangers nor a busy seller shuts the others out.
   */
  function add(address: ReadyAddress): void {
    const isSellersDue = line.has('seller') || size() < keptForSellers
    if (isSellersDue && line.has('stranger')) turn = turn === 'seller' ? 'stranger' : 'seller'
    else turn = isSellersDue ? 'seller' : 'stranger'
    if (line.serve(address, turn)) took(address)
    else ready.push(address)
  }

  function took({ challengeNonce }: ReadyAddress): void {
    if (isShared) handedOut.add(challengeNonce)
  }

  return {
    size,
    /** The addresses of the shared stock that need not be read. */
    known,
    /** Takes in what the shared stock has, when this was asked for `before`, and the addresses of it that were read. */
    follow(before: ReadonlySet<Hex>, there: ReadonlySet<Hex>, read: readonly ReadyAddress[]): void {
      const isGone = (nonce: Hex) => before.has(nonce) && !there.has(nonce)
      ready = ready.filter(({ challengeNonce }) => !isGone(challengeNonce))
      for (const nonce of handedOut) if (isGone(nonce)) handedOut.delete(nonce)
      const own = known()
      for (const address of read) if (!own.has(address.challengeNonce)) add(address)
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
    /** Adds a new address, and serves callers that wait. */
    addMined(address: ReadyAddress): void {
      // A crash before it is stored loses the work and nothing else.
      store?.add(address).catch(onError)
      add(address)
    },
    /** An address that is there for such a caller. */
    take(caller: Caller): ReadyAddress | undefined {
      const address = caller === 'stranger' && size() <= keptForSellers ? undefined : ready.shift()
      if (address) took(address)
      return address
    },
    wait: line.join,
    /** Takes back an address from a caller. */
    putBack(address: ReadyAddress): void {
      handedOut.delete(address.challengeNonce)
      add(address)
    },
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
