import assert from 'node:assert/strict'
import {
  type BurnTerms,
  burnAddressAt,
  deriveBurn,
  type Hex,
  hexOf,
  type MinedAddress,
  verifyBurnAddress,
} from '@svc-zerc20/zk'
import { limits } from './limits.js'
import type { AddressMiner } from './mining/miner.js'
import { type AddressStore, createAddressReserve, type StoredAddress } from './reserve.js'
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

/** Who wants an address. */
export type PoolCaller = {
  /** What its share is counted by. */
  readonly key: string
  /** Aborted when nobody waits for the address any more. */
  readonly gone?: AbortSignal
}

/**
 * Who may have an address when they are few. The pool tells it what is taken, and that an address made good for
 * the one that was taken first.
 */
export type PoolShares = {
  /** A lower rank goes first; undefined: this caller may have none while so many are ready. */
  rank(key: string, ready: number): number | undefined
  /** How many of the ready ones are kept for nobody in particular, and how many there would be in a full pool. */
  common(ready: number): number
  readonly commonMax: number
  take(key: string): void
  giveBack(key: string): void
}

/** Ready one-time addresses, so that issuing a challenge never waits for proof of work. */
export type AddressPool = {
  /**
   * One address, handed out to this caller alone. When there is none for it, callers wait at most `waitMs`, by their
   * shares and then in the order they came; undefined means none in time, too many waiting, gone, or closed.
   */
  take(waitMs: number, caller?: PoolCaller): Promise<ReadyAddress | undefined>
  /** Takes back an address that nobody but the one it was given to has seen, and who wrote it nowhere. */
  giveBack(address: ReadyAddress, caller?: PoolCaller): void
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
  /** By default everybody may have everything, first come, first served. */
  readonly shares?: PoolShares
  /** Keeps about half of the addresses over restarts, and all of them over orderly ones. */
  readonly store?: AddressStore
  readonly waitersMax?: number
  /** Told of every address that could not be made or kept; the pool pauses, then goes on. */
  readonly onError?: (error: unknown) => void
}

const emptyStore: AddressStore = { load: async () => [], save: async () => undefined }
const anybody: PoolCaller = { key: '' }

const noShares = (targetSize: number): PoolShares => ({
  rank: (_key, ready) => (ready > 0 ? 0 : undefined),
  common: (ready) => ready,
  commonMax: targetSize,
  take: () => undefined,
  giveBack: () => undefined,
})

/** Begins to fill at once. Throws if the terms can make no address at all. */
export function createAddressPool({
  miner,
  random,
  clock,
  targetSize,
  shares = noShares(targetSize),
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
  /** Who took the addresses that are not made good for yet, oldest first. */
  const takers: string[] = []
  let inFlight = 0
  let isOpen = false
  let isFilling = false
  let isWaitingForQuiet = false
  let asked = 0
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
      if (closed.signal.aborted) return
      if (hand.length < handSize || line.length() > 0) hand.push(address)
      else reserve.add(address)
      const taker = takers.shift()
      if (taker !== undefined) shares.giveBack(taker)
      serveLine()
    } catch (error) {
      if (closed.signal.aborted) return
      onError(error)
      await clock.sleep(limits.refillPauseMs, closed.signal).catch(() => undefined) // a pause cut short is over
    }
  }

  const size = () => hand.length + reserve.size()

  function record(key: string): void {
    shares.take(key)
    takers.push(key)
    // A pool that was larger once can have more to give: what is older than a whole one counts no more.
    if (takers.length > targetSize) shares.giveBack(takers.shift() ?? '')
  }

  function serveLine(): void {
    while (hand.length > 0) {
      const turn = line.next((key) => shares.rank(key, size()))
      const address = turn && hand.shift()
      if (address === undefined) return
      record(turn?.key ?? '')
      turn?.serve(address)
    }
  }

  /** Moves addresses from the reserve to the hand before the hand is empty. */
  async function draw(): Promise<void> {
    const drawn = await reserve.draw(handSize + line.length() - hand.length)
    hand.push(...drawn)
    serveLine()
    if (drawn.length === 0) await clock.sleep(limits.refillPauseMs, closed.signal).catch(() => undefined)
  }

  /** Fills up once nobody has asked for a while; one of these waits at a time. */
  async function fillWhenQuiet(): Promise<void> {
    if (isWaitingForQuiet) return
    isWaitingForQuiet = true
    let seen: number
    do {
      seen = asked
      await clock.sleep(limits.quietMs, closed.signal).catch(() => undefined)
    } while (seen !== asked && !closed.signal.aborted)
    isWaitingForQuiet = false
    isFilling = true
    refill()
  }

  /** Whether few enough are left to begin at once: searching after each single one would slow down every request. */
  function isLow(): boolean {
    const { lowWaterShare } = limits
    return (
      line.length() > 0 ||
      size() <= targetSize * lowWaterShare ||
      shares.common(size()) <= shares.commonMax * lowWaterShare
    )
  }

  // At most one puzzle per thread is out, so the miner's queue stays free for others.
  function refill(): void {
    if (!isOpen || closed.signal.aborted) return
    const wanted = targetSize + line.length() - size()
    isFilling = wanted > 0 && (isFilling || isLow())
    if (wanted > 0 && !isFilling) void fillWhenQuiet()
    while (isFilling && inFlight < Math.min(miner.threads, wanted)) {
      inFlight += 1
      void produce().then(() => {
        inFlight -= 1
        refill()
      })
    }
    // Writing the store disturbs whoever writes to the same disk: while callers come it waits until it must be.
    const handLow = handSize * (isFilling ? limits.drawShareFilling : limits.drawShare)
    if (drawing !== undefined || reserve.size() === 0 || hand.length > handLow) return
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
    async take(waitMs, { key, gone } = anybody) {
      asked += 1
      const isOver = closed.signal.aborted || gone?.aborted === true
      const address = isOver || shares.rank(key, size()) === undefined ? undefined : hand.shift()
      if (address) record(key)
      const waits = !isOver && address === undefined && waitMs > 0 && line.length() < waitersMax
      if (waits) figures.waits += 1
      const taken = waits ? line.join(waitMs, key, gone) : address
      refill()
      const given = await taken
      if (given === undefined && gone?.aborted !== true) figures.refusals += 1
      return given
    },
    giveBack(address, { key } = anybody) {
      if (closed.signal.aborted) return // what was in the hand is saved already; this one is lost
      hand.push(address)
      const place = takers.lastIndexOf(key)
      if (place >= 0) {
        takers.splice(place, 1)
        shares.giveBack(key)
      }
      serveLine()
    },
    size: () => (closed.signal.aborted ? 0 : size()),
    figures: () => ({ ...figures }),
    async close() {
      closed.abort()
      line.dismiss()
      saved ??= opened.then(() => drawing).then(() => reserve.close(hand.splice(0)))
      await saved
    },
  }
}
