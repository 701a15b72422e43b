/**
 * Decides when addresses are mined. Mining runs in bursts: at once when few addresses are left, and otherwise when nobody
 * has asked for a while.
 */
import type { Shares } from '../payment/issue/shares.js'
import { limits } from './limits.js'
import type { AddressStock } from './stock.js'
import type { Sleeper } from './wait-line.js'

export type Refill = {
  /** A caller asked for an address. */
  noteAsked(): void
  /** Starts whatever is due; called after every change of the stock. */
  look(): void
}

export function createRefill(deps: {
  readonly stock: AddressStock
  readonly shares: Shares
  readonly targetSize: number
  /** Addresses that may be mined at the same time. */
  readonly threads: number
  /** Mines one address into the stock. Never throws. */
  readonly mineOne: () => Promise<void>
  readonly clock: Sleeper
  readonly closed: AbortSignal
}): Refill {
  const { stock, shares, targetSize, threads, mineOne, clock, closed } = deps
  let inFlight = 0
  let isFilling = false
  let isWaitingForQuiet = false
  let asked = 0

  /** A sleep that ends early when the pool is closed. */
  const pause = (ms: number) => clock.sleep(ms, closed).catch(() => undefined)

  /** Whether mining begins at once. Mining after each single address would slow down every request. */
  function isLow(): boolean {
    const { lowWaterShare } = limits
    return (
      stock.waiting() > 0 ||
      stock.size() <= targetSize * lowWaterShare ||
      shares.common(stock.size()) <= shares.commonMax * lowWaterShare
    )
  }

  /** Fills the pool once nobody has asked for a while. One of these waits at a time. */
  async function fillWhenQuiet(): Promise<void> {
    if (isWaitingForQuiet) return
    isWaitingForQuiet = true
    let seen: number
    do {
      seen = asked
      await pause(limits.quietMs)
    } while (seen !== asked && !closed.aborted)
    isWaitingForQuiet = false
    isFilling = true
    look()
  }

  function look(): void {
    if (closed.aborted) return
    const wanted = targetSize + stock.waiting() - stock.size()
    isFilling = wanted > 0 && (isFilling || isLow())
    if (wanted > 0 && !isFilling) void fillWhenQuiet()
    // At most one puzzle per thread is under way, so that the miner's queue stays free for others.
    while (isFilling && inFlight < Math.min(threads, wanted)) {
      inFlight += 1
      void mineOne().then(() => {
        inFlight -= 1
        look()
      })
    }
  }

  return {
    noteAsked() {
      asked += 1
    },
    look,
  }
}
