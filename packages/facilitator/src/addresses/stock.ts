/** Addresses that are ready, and the callers that wait for one. */
import type { Hex } from '@svc-zerc20/zk'
import type { ReadyAddress, StoredAddress } from './address-maker.js'
import { createTakers, type PoolShares } from './pool-shares.js'
import { createWaitLine, type Sleeper, type WaitLine } from './wait-line.js'

/**
 * A store in which mined addresses outlive the process. An address leaves it in the same moment in which its challenge is
 * recorded, so that none is handed out twice, whenever the process dies.
 */
export type AddressStore = {
  load(): Promise<readonly StoredAddress[]>
  add(address: StoredAddress): Promise<void>
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
  readonly restore: (stored: StoredAddress) => ReadyAddress | undefined
  readonly shares: PoolShares
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
      const { challengeNonce, powNonce, powBits, payTo, epoch } = address
      const stored = { challengeNonce, powNonce, powBits, payTo, ...(epoch && { epoch }) }
      // A crash before it is stored loses the work and nothing else.
      store?.add(stored).catch(onError)
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
