/** Ready one-time addresses, so that issuing a challenge never waits for proof of work. */
import assert from 'node:assert/strict'
import { limits } from '../config/limits.js'
import type { Asker, ReadyAddress } from '../payment/ports.js'
import type { AddressEpoch } from '../payment/records.js'
import { type AddressTerms, createAddressMaker } from './address-maker.js'
import type { AddressMiner } from './miner.js'
import { followStock, type SharedAddresses } from './shared-stock.js'
import { type AddressStock, type AddressStore, createAddressStock, type Sleeper } from './stock.js'

export type AddressPool = {
  /**
   * One address, handed out to this caller alone. When there is none, callers wait at most `waitMs`: sellers and others in
   * turn, each in the order they came. Undefined means none in time, too many waiting, gone, or closed.
   */
  take(waitMs: number, asker?: Partial<Asker>): Promise<ReadyAddress | undefined>
  /** Takes back an address that its caller has shown to nobody and written nowhere. */
  giveBack(address: ReadyAddress): void
  /** Addresses ready now. */
  ready(): number
  /** Addresses to keep ready. */
  readonly target: number
  /** Stops refilling, and lets every waiter go empty-handed. Close the pool before its miner. */
  close(): Promise<void>
}

export type AddressPoolDeps = AddressTerms & {
  readonly miner: Pick<AddressMiner, 'threads' | 'mine'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: Sleeper & { now(): number }
  /** The epoch of a new address. Absent when every address is minted by its own proof. */
  readonly epochAt?: ((nowMs: number) => AddressEpoch) | undefined
  /** Addresses to keep ready. */
  readonly targetSize: number
  /** So many of the last ones only sellers with a token take. */
  readonly keptForSellers?: number
  /** Keeps addresses over restarts. */
  readonly store?: AddressStore | undefined
  /** Keeps them for several daemons, instead of a store. */
  readonly shared?: SharedAddresses | undefined
  readonly waitersMax?: number
  /** Told of every failure to mine or to keep an address; the pool pauses, then goes on. */
  readonly onError?: (error: unknown) => void
}

/** Begins to fill at once. Throws when the terms can make no address at all. */
export function createAddressPool({
  miner,
  random,
  clock,
  epochAt,
  targetSize,
  keptForSellers = 0,
  store,
  shared,
  waitersMax = limits.addressWaitersMax,
  onError = () => undefined,
  ...terms
}: AddressPoolDeps): AddressPool {
  assert(Number.isInteger(targetSize) && targetSize > 0, 'targetSize must be a positive integer')
  const maker = createAddressMaker({ terms, miner, random, clock, epochAt })
  const stock = createAddressStock({
    store,
    clock,
    restore: maker.restore,
    keptForSellers,
    isShared: shared !== undefined,
    onError,
  })
  const closed = new AbortController()
  const { threads } = miner
  const refill = createRefill({
    stock,
    targetSize,
    threads,
    mineOne,
    clock,
    closed: closed.signal,
  })

  async function mineOne(): Promise<void> {
    try {
      const address = await maker.mine()
      if (closed.signal.aborted) return
      await shared?.add(address)
      // A look at the shared stock may have found it by now.
      if (!stock.known().has(address.challengeNonce)) stock.addMined(address)
    } catch (error) {
      if (closed.signal.aborted) return
      onError(error)
      await clock.sleep(limits.poolRefillPauseMs, closed.signal).catch(() => undefined) // a pause cut short is over
    }
  }

  let isOpen = false
  async function open(): Promise<void> {
    if (store !== undefined) await stock.open().catch(onError)
    if (following) await following.opened
    isOpen = true
    refill.start()
  }

  const onPolled = () => isOpen && refill.start()
  const following = shared && followStock({ stock, shared, restore: maker.restore, onError, onPolled })
  const opened = open()
  return {
    async take(waitMs, { seller, gone } = {}) {
      refill.noteAsked()
      if (closed.signal.aborted || gone?.aborted) return undefined
      const mayWait = waitMs > 0 && stock.waiting() < waitersMax
      const caller = seller === undefined ? 'stranger' : 'seller'
      const taken = stock.take(caller) ?? (mayWait ? stock.wait(waitMs, caller, gone) : undefined)
      if (isOpen) refill.start()
      return taken
    },
    giveBack(address) {
      if (!closed.signal.aborted) stock.putBack(address)
    },
    ready: () => (closed.signal.aborted ? 0 : stock.size()),
    target: targetSize,
    async close() {
      closed.abort()
      stock.dismiss()
      await opened
      await following?.close()
    },
  }
}

/**
 * Decides when addresses are mined. Mining runs in bursts: at once when few addresses are left, and otherwise when nobody
 * has asked for a while.
 */
function createRefill(deps: {
  readonly stock: AddressStock
  readonly targetSize: number
  /** Addresses that may be mined at the same time. */
  readonly threads: number
  /** Mines one address into the stock. Never throws. */
  readonly mineOne: () => Promise<void>
  readonly clock: Sleeper
  readonly closed: AbortSignal
}) {
  const { stock, targetSize, threads, mineOne, clock, closed } = deps
  let inFlight = 0
  let isFilling = false
  let isWaitingForQuiet = false
  let asked = 0

  /** A sleep that ends early when the pool is closed. */
  const pause = (ms: number) => clock.sleep(ms, closed).catch(() => undefined)

  /** Whether mining begins at once. Mining after each single address would slow down every request. */
  const isLow = () => stock.waiting() > 0 || stock.size() <= targetSize * limits.poolLowWaterShare

  /** Fills the pool once nobody has asked for a while. One of these waits at a time. */
  async function fillWhenQuiet(): Promise<void> {
    if (isWaitingForQuiet) return
    isWaitingForQuiet = true
    let seen: number
    do {
      seen = asked
      await pause(limits.poolQuietMs)
    } while (seen !== asked && !closed.aborted)
    isWaitingForQuiet = false
    isFilling = true
    start()
  }

  /** Starts whatever is due; called after every change of the stock. */
  function start(): void {
    if (closed.aborted) return
    const wanted = targetSize + stock.waiting() - stock.size()
    isFilling = wanted > 0 && (isFilling || isLow())
    if (wanted > 0 && !isFilling) void fillWhenQuiet()
    // At most one puzzle per thread is under way, so that the miner's queue stays free for others.
    while (isFilling && inFlight < Math.min(threads, wanted)) {
      inFlight += 1
      void mineOne().then(() => {
        inFlight -= 1
        start()
      })
    }
  }

  return {
    noteAsked(): void {
      asked += 1
    },
    start,
  }
}
