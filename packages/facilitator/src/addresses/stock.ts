/** Addresses that are ready, in memory and in the store, and the callers that wait for one. */
import type { ReadyAddress } from './address-maker.js'
import { limits } from './limits.js'
import { createTakers, type PoolShares } from './pool-shares.js'
import { type AddressStore, createAddressReserve, type StoredAddress } from './reserve.js'
import { createWaitLine, type Sleeper, type WaitLine } from './wait-line.js'

export type AddressStock = {
  /** Addresses in memory and in the store. */
  size(): number
  /** Callers that wait. */
  waiting(): number
  /** Takes over the addresses of the store, and says how many there are. Call it once, first. */
  open(): Promise<number>
  /** Adds a new address, and serves callers that wait. */
  addMined(address: ReadyAddress): void
  /** An address from memory, when the caller's share allows one. */
  takeFor(key: string): ReadyAddress | undefined
  readonly wait: WaitLine<ReadyAddress>['join']
  /** Takes back an address from a caller. */
  putBack(address: ReadyAddress, key: string): void
  /** Whether so few addresses are in memory that more should come from the store. */
  needsDraw(isFilling: boolean): boolean
  /** Moves addresses from the store to memory, and says how many came. */
  draw(): Promise<number>
  /** Sends every waiting caller away without an address. */
  dismiss(): void
  /** Saves everything in memory to the store. */
  close(): Promise<void>
}

const emptyStore: AddressStore = { load: async () => [], save: async () => undefined }

export function createAddressStock(deps: {
  /** Without a store every address is in memory. */
  readonly store: AddressStore | undefined
  readonly clock: Sleeper
  readonly restore: (stored: StoredAddress) => ReadyAddress | undefined
  readonly shares: PoolShares
  readonly targetSize: number
  readonly onError: (error: unknown) => void
}): AddressStock {
  const { store, clock, restore, shares, targetSize, onError } = deps
  /** In memory: a crash loses these. */
  const hand: ReadyAddress[] = []
  const handSize = store === undefined ? targetSize : Math.ceil(targetSize * limits.handShare)
  const reserve = createAddressReserve({ store: store ?? emptyStore, clock, restore, onError })
  const line = createWaitLine<ReadyAddress>(clock)
  const takers = createTakers(shares, targetSize)
  const size = () => hand.length + reserve.size()

  function serveLine(): void {
    while (hand.length > 0) {
      const turn = line.next((key) => shares.rank(key, size()))
      const address = hand[0]
      if (turn === undefined || address === undefined) return
      hand.shift()
      takers.took(turn.key)
      turn.serve(address)
    }
  }

  return {
    size,
    waiting: line.length,
    async open() {
      await reserve.open()
      return reserve.size()
    },
    addMined(address) {
      if (hand.length < handSize || line.length() > 0) hand.push(address)
      else reserve.add(address)
      takers.oldestReplaced()
      serveLine()
    },
    takeFor(key) {
      const address = shares.rank(key, size()) === undefined ? undefined : hand.shift()
      if (address) takers.took(key)
      return address
    },
    wait: line.join,
    putBack(address, key) {
      hand.push(address)
      takers.gaveBack(key)
      serveLine()
    },
    needsDraw(isFilling) {
      // Writing the store makes the journal wait for the disk. While callers come, memory may therefore
      // nearly run out of addresses before more are drawn.
      const handLow = handSize * (isFilling ? limits.drawShareFilling : limits.drawShare)
      return reserve.size() > 0 && hand.length <= handLow
    },
    async draw() {
      const drawn = await reserve.draw(handSize + line.length() - hand.length)
      hand.push(...drawn)
      serveLine()
      return drawn.length
    },
    dismiss: line.dismiss,
    close: () => reserve.close(hand.splice(0)),
  }
}
