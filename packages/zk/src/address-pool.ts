import assert from 'node:assert/strict'
import type { AddressMiner } from './address-miner.js'
import { type BurnTerms, deriveBurn, type MinedAddress, verifyBurnAddress } from './burn-address.js'
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

/** Ready one-time addresses, so that issuing a challenge never waits for proof of work. */
export type AddressPool = {
  /**
   * One address, handed out to this caller alone. With an empty pool, callers wait in the order they came, at
   * most `waitMs`; undefined means none in time, too many waiting, or closed.
   */
  take(waitMs: number): Promise<ReadyAddress | undefined>
  /** Addresses ready now. */
  size(): number
  /** Stops refilling and lets every waiter go empty-handed. Close the pool before its miner. */
  close(): void
}

export type AddressPoolDeps = Omit<BurnTerms, 'challengeNonce'> & {
  readonly miner: Pick<AddressMiner, 'threads' | 'mine'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly clock: Sleeper
  /** Addresses to keep ready. */
  readonly targetSize: number
  readonly waitersMax?: number
  /** Told of every address that could not be made; the pool pauses, then goes on. */
  readonly onError?: (error: unknown) => void
}

/** Begins to fill at once. Throws if the terms can make no address at all. */
export function createAddressPool({
  miner,
  random,
  clock,
  targetSize,
  waitersMax = limits.waitersMax,
  onError,
  ...terms
}: AddressPoolDeps): AddressPool {
  assert(Number.isInteger(targetSize) && targetSize > 0, 'targetSize must be a positive integer')
  deriveBurn({ ...terms, challengeNonce: hexOf(new Uint8Array(32)) })
  const ready: ReadyAddress[] = []
  const line = createWaitLine<ReadyAddress>(clock)
  const closed = new AbortController()
  let inFlight = 0

  async function mineOne(): Promise<ReadyAddress> {
    const challengeNonce = hexOf(random.bytes(32))
    const burn: BurnTerms = { ...terms, challengeNonce }
    const mined = await miner.mine(deriveBurn(burn))
    assert(verifyBurnAddress(burn, mined), 'a mined address does not derive again')
    return { challengeNonce, ...mined }
  }

  async function produce(): Promise<void> {
    try {
      const address = await mineOne()
      if (!closed.signal.aborted && !line.serve(address)) ready.push(address)
    } catch (error) {
      if (closed.signal.aborted) return
      onError?.(error)
      await clock.sleep(limits.refillPauseMs, closed.signal).catch(() => undefined) // a pause cut short is over
    }
  }

  // At most one puzzle per thread is out, so the miner's queue stays free for others.
  function refill(): void {
    const wanted = targetSize + line.length() - ready.length
    while (!closed.signal.aborted && inFlight < Math.min(miner.threads, wanted)) {
      inFlight += 1
      void produce().then(() => {
        inFlight -= 1
        refill()
      })
    }
  }

  refill()
  return {
    async take(waitMs) {
      const address = ready.shift()
      const mayWait = !closed.signal.aborted && waitMs > 0 && line.length() < waitersMax
      const taken = address === undefined && mayWait ? line.join(waitMs) : address
      refill()
      return taken
    },
    size: () => ready.length,
    close() {
      closed.abort()
      ready.length = 0
      line.dismiss()
    },
  }
}
