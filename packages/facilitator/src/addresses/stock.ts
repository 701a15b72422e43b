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
  readonly onError: (error: unknown) => void
}) {
  const { store, clock, restore, onError } = deps
  let ready: ReadyAddress[] = []
  /** Addresses that other daemons may take as well. */
  let elsewhere = 0
  const line = createWaitLine<ReadyAddress>(clock)
  const size = () => ready.length + elsewhere

  function serveLine(): void {
    while (ready[0] && line.serve(ready[0])) ready.shift()
  }

  return {
    size,
    /** Addresses that can be handed out here, now. */
    held: (): readonly Hex[] => ready.map(({ challengeNonce }) => challengeNonce),
    /** Takes over addresses that are this daemon's own from now on. */
    hold(addresses: readonly ReadyAddress[]): void {
      ready.push(...addresses)
      elsewhere = Math.max(0, elsewhere - addresses.length)
      serveLine()
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
      ready.push(...valid)
      serveLine()
    },
    /** Adds a new address, and serves callers that wait. An address that is not held is left to any daemon. */
    addMined(address: ReadyAddress, isHeld = true): void {
      // A crash before it is stored loses the work and nothing else.
      store?.add(address).catch(onError)
      if (isHeld) ready.push(address)
      else elsewhere += 1
      serveLine()
    },
    /** An address that is there. */
    take: () => ready.shift(),
    wait: line.join,
    /** Takes back an address from a caller. */
    putBack(address: ReadyAddress): void {
      ready.push(address)
      serveLine()
    },
    dismiss: line.dismiss,
  }
}

/** A clock's sleep. An aborted sleep may resolve or reject; both are its end. */
export type Sleeper = { sleep(ms: number, signal: AbortSignal): Promise<void> }

/** Callers that wait for one item each. */
export type WaitLine<Item> = ReturnType<typeof createWaitLine<Item>>

export function createWaitLine<Item>(clock: Sleeper) {
  type Waiter = { readonly isSeller: boolean; end(item: Item | undefined): void }
  const waiters = new Set<Waiter>()
  let isSellersTurn = true
  const firstOf = (isSeller: boolean) => [...waiters].find((waiter) => waiter.isSeller === isSeller)
  return {
    length: () => waiters.size,
    /** Waits at most `waitMs` for an item; undefined when none came, the caller left or the line was dismissed. */
    join: (waitMs: number, isSeller: boolean, gone?: AbortSignal): Promise<Item | undefined> =>
      new Promise((resolve) => {
        const left = new AbortController()
        const giveUp = () => waiter.end(undefined)
        const waiter: Waiter = {
          isSeller,
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
     * Gives the item to the first in line: to a seller with a token and to anybody else in turn, so that neither a flood of
     * strangers nor one seller shuts the others out. False when nobody waits.
     */
    serve(item: Item): boolean {
      const next = firstOf(isSellersTurn) ?? firstOf(!isSellersTurn)
      if (next) isSellersTurn = !next.isSeller
      next?.end(item)
      return next !== undefined
    },
    /** Sends every caller away without an item. */
    dismiss(): void {
      for (const waiter of [...waiters]) waiter.end(undefined)
    },
  }
}
