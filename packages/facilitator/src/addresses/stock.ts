/** Addresses that are ready, and the callers that wait for one. */
import type { Hex } from '@svc-zerc20/zk'
import type { Shares } from '../payment/issue/shares.js'
import type { ReadyAddress } from '../payment/ports.js'
import { createWaitLine, type Sleeper, type WaitLine } from './wait-line.js'

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
