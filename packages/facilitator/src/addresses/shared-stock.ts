/**
 * A stock of addresses that several daemons fill and take from. A daemon holds a few of them, and knows of the others how many
 * there are. It hands out only what it holds.
 */

import type { Hex } from '@svc-zerc20/zk'
import { limits } from '../config/limits.js'
import type { ReadyAddress } from '../payment/ports.js'
import type { AddressStock } from './stock.js'

export type SharedAddresses = {
  /** How long an address that was taken, added or renewed is this daemon's own. */
  readonly heldMs: number
  /** Keeps a mined address: as one of this daemon's own, or for any daemon. Returns the number that no daemon held before. */
  add(address: ReadyAddress, isHeld: boolean): Promise<number>
  drop(nonces: readonly Hex[]): Promise<void>
  /** Takes at most `count` addresses that no daemon holds. */
  take(count: number): Promise<readonly ReadyAddress[]>
  /** Renews the hold on these addresses, and returns those that are still this daemon's own. */
  renew(nonces: readonly Hex[]): Promise<ReadonlySet<Hex>>
  /** The number of addresses that no daemon holds. */
  free(): Promise<number>
  /** Leaves all addresses to the other daemons. */
  release(): Promise<void>
}

export function shareStock({
  stock,
  shared,
  restore,
  heldMax,
  nowMs = () => performance.now(),
  onPolled,
  onError,
}: {
  readonly stock: Pick<AddressStock, 'held' | 'hold' | 'lose' | 'setElsewhere' | 'addMined' | 'waiting'>
  readonly shared: SharedAddresses
  readonly restore: (stored: ReadyAddress) => ReadyAddress | undefined
  /** Addresses that this daemon holds at once. */
  readonly heldMax: number
  /** A clock that nobody sets. */
  readonly nowMs?: () => number
  /** The stock may have changed. */
  readonly onPolled: () => void
  readonly onError: (error: unknown) => void
}) {
  let renewedMs = nowMs()
  let polling: Promise<void> | undefined
  let isClosed = false
  let hasFailed = false

  async function renew(): Promise<void> {
    const at = nowMs()
    const asked = stock.held()
    const kept = asked.length > 0 ? await shared.renew(asked) : new Set(asked)
    stock.lose(asked.filter((nonce) => !kept.has(nonce)))
    renewedMs = at
  }

  /** Takes some, and drops those that are not valid any more. */
  async function take(): Promise<void> {
    for (;;) {
      const wanted = heldMax + stock.waiting() - stock.held().length
      if (wanted <= 0) return
      const taken = await shared.take(wanted)
      const restored = taken.map(restore)
      const gone = taken.filter((_, i) => !restored[i]).map(({ challengeNonce }) => challengeNonce)
      if (gone.length > 0) await shared.drop(gone)
      stock.hold(restored.filter((each) => each !== undefined))
      if (taken.length < wanted) return
    }
  }

  async function pollOnce(): Promise<void> {
    try {
      // A daemon that slept for too long may hold nothing any more.
      if (nowMs() - renewedMs >= shared.heldMs / 2) stock.lose(stock.held())
      if (nowMs() - renewedMs >= shared.heldMs / 4) await renew()
      await take()
      stock.setElsewhere(await shared.free())
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onError(error)
      hasFailed = true
    }
    polling = undefined
    if (!isClosed) onPolled()
  }

  /** Asks for more at once. */
  const poll = (): void => {
    if (!isClosed) polling ??= pollOnce()
  }
  const timer = setInterval(poll, limits.sharedAddressesPollMs).unref()
  poll()
  return {
    /** The first answer. */
    opened: polling,
    poll,
    async addMined(address: ReadyAddress): Promise<void> {
      const isHeld = stock.held().length < heldMax + stock.waiting()
      // Others mine as well: each new address is an occasion to hear of theirs.
      stock.setElsewhere(await shared.add(address, isHeld))
      stock.addMined(address, isHeld)
    },
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      await polling
      await shared.release().catch(onError)
    },
  }
}
