import assert from 'node:assert/strict'
import type { AddressMiner } from './address-miner.js'
import { type AddressStore, createAddressReserve, type StoredAddress } from './address-reserve.js'
import {
  type BurnTerms,
  burnAddressAt,
  deriveBurn,
  type MinedAddress,
  verifyBurnAddress,
} from './burn-address.js'
import { type Hex, hexOf } from './hex.js'
import { limits } from './limits.js'
import { createWaitLine, type Sleeper } from './wait-line.js'

/**
 * A one-time burn address nobody has seen yet. With the seed, the treasury and the chain, its fields are all it
 * takes to derive the burn's secret again.
 */
export type ReadyAddress = MinedAddress & {
  /** 32 random bytes, lower-case hex. */
  readonly challengeNonce: Hex
}

/** What a pool has done since it was made. */
export type PoolFigures = {
  readonly mined: number
  /** From the start of each search to its end, added up over threads. */
  readonly miningSeconds: number
  /** Addresses taken over from the store. */
  readonly restored: number
  /** Callers that found the pool empty and waited. */
  readonly waits: number
  /** Callers that went without an address. */
  readonly refusals: number
}

/** Ready one-time addresses, so that issuing a challenge never waits for proof of work. */
export type AddressPool = {
  /**
   * One address, handed out to this caller alone. With an empty pool, callers wait in the order they came, at
   * most `waitMs`; undefined means none in time, too many waiting, or closed.
   */
  take(waitMs: number): Promise<ReadyAddress | undefined>
  /** Addresses ready now, in memory and in the store. */
  size(): number
  figures(): PoolFigures
  /** Stops refilling, lets every waiter go empty-handed and saves what is left. Close the pool before its miner. */
  close(): Promise<void>
}

export type AddressPoolDeps = Omit<BurnTerms, 'challengeNonce'> & {
  readonly miner: Pick<AddressMiner, 'threads' | 'mine'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: Sleeper & { now(): number }
  /** Addresses to keep ready. */
  readonly targetSize: number
  /** Keeps about half of the addresses over restarts, and all of them over orderly ones. */
  readonly store?: AddressStore
  readonly waitersMax?: number
  /** Told of every address that could not be made or kept; the pool pauses, then goes on. */
  readonly onError?: (error: unknown) => void
}

const emptyStore: AddressStore = { load: async () => [], save: async () => undefined }

/** Begins to fill at once. Throws if the terms can make no address at all. */
export function createAddressPool({
  miner,
  random,
  clock,
  targetSize,
  store,
  waitersMax = limits.waitersMax,
  onError = () => undefined,
  ...terms
}: AddressPoolDeps): AddressPool {
  assert(Number.isInteger(targetSize) && targetSize > 0, 'targetSize must be a positive integer')
  deriveBurn({ ...terms, challengeNonce: hexOf(new Uint8Array(32)) })
  /** In memory: a crash loses them. Without a store that is all there is. */
  const hand: ReadyAddress[] = []
  const handSize = store === undefined ? targetSize : Math.ceil(targetSize * limits.handShare)
  const reserve = createAddressReserve({ store: store ?? emptyStore, clock, restore, onError })
  const line = createWaitLine<ReadyAddress>(clock)
  const closed = new AbortController()
  const figures = { mined: 0, miningSeconds: 0, restored: 0, waits: 0, refusals: 0 }
  let inFlight = 0
  let isOpen = false
  let drawing: Promise<void> | undefined

  function restore({ challengeNonce, powNonce }: StoredAddress): ReadyAddress | undefined {
    const payTo = burnAddressAt(deriveBurn({ ...terms, challengeNonce }), powNonce)
    return payTo && { challengeNonce, powNonce, payTo }
  }

  async function mineOne(): Promise<ReadyAddress> {
    const challengeNonce = hexOf(random.bytes(32))
    const burn: BurnTerms = { ...terms, challengeNonce }
    const startedAt = clock.now()
    const mined = await miner.mine(deriveBurn(burn))
    assert(verifyBurnAddress(burn, mined), 'a mined address does not derive again')
    figures.mined += 1
    figures.miningSeconds += (clock.now() - startedAt) / 1000
    return { challengeNonce, ...mined }
  }

  async function produce(): Promise<void> {
    try {
      const address = await mineOne()
      if (closed.signal.aborted || line.serve(address)) return
      if (hand.length < handSize) hand.push(address)
      else reserve.add(address)
    } catch (error) {
      if (closed.signal.aborted) return
      onError(error)
      await clock.sleep(limits.refillPauseMs, closed.signal).catch(() => undefined) // a pause cut short is over
    }
  }

  /** Moves addresses from the reserve to the hand before the hand is empty. */
  async function draw(): Promise<void> {
    const drawn = await reserve.draw(handSize + line.length() - hand.length)
    for (const address of drawn) if (!line.serve(address)) hand.push(address)
    if (drawn.length === 0) await clock.sleep(limits.refillPauseMs, closed.signal).catch(() => undefined)
  }

  // At most one puzzle per thread is out, so the miner's queue stays free for others.
  function refill(): void {
    if (!isOpen || closed.signal.aborted) return
    const wanted = targetSize + line.length() - hand.length - reserve.size()
    while (inFlight < Math.min(miner.threads, wanted)) {
      inFlight += 1
      void produce().then(() => {
        inFlight -= 1
        refill()
      })
    }
    if (drawing !== undefined || reserve.size() === 0 || hand.length > handSize / 2) return
    drawing = draw().then(() => {
      drawing = undefined
      refill()
    })
  }

  async function open(): Promise<void> {
    if (store !== undefined) await reserve.open()
    figures.restored = reserve.size()
    isOpen = true
    refill()
  }

  const opened = open()
  let saved: Promise<void> | undefined
  return {
    async take(waitMs) {
      const address = closed.signal.aborted ? undefined : hand.shift()
      const waits =
        address === undefined && !closed.signal.aborted && waitMs > 0 && line.length() < waitersMax
      if (waits) figures.waits += 1
      const taken = waits ? line.join(waitMs) : address
      refill()
      const given = await taken
      if (given === undefined) figures.refusals += 1
      return given
    },
    size: () => (closed.signal.aborted ? 0 : hand.length + reserve.size()),
    figures: () => ({ ...figures }),
    async close() {
      closed.abort()
      line.dismiss()
      saved ??= opened.then(() => drawing).then(() => reserve.close(hand.splice(0)))
      await saved
    },
  }
}
