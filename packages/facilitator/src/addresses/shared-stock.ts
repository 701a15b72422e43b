/**
 * A stock that several daemons fill, and from which the active one takes. Each looks again and again at what there is, so that
 * one which becomes active has addresses at once. One that was issued meanwhile is refused by the ledger.
 */
import type { Hex } from '@svc-zerc20/zk'
import { limits } from '../config/limits.js'
import type { ReadyAddress } from '../payment/ports.js'
import type { AddressStock } from './stock.js'

export type SharedAddresses = {
  add(address: ReadyAddress): Promise<void>
  /** Forgets addresses that are not valid any more. */
  drop(nonces: readonly Hex[]): Promise<void>
  /** The nonces of all addresses, the oldest first. */
  nonces(): Promise<readonly Hex[]>
  read(nonces: readonly Hex[]): Promise<readonly ReadyAddress[]>
}

/** Keeps the stock as the shared one is. */
export function followStock({
  stock,
  shared,
  restore,
  onPolled,
  onError,
}: {
  readonly stock: Pick<AddressStock, 'known' | 'follow'>
  readonly shared: SharedAddresses
  readonly restore: (stored: ReadyAddress) => ReadyAddress | undefined
  /** The stock may have changed. */
  readonly onPolled: () => void
  readonly onError: (error: unknown) => void
}) {
  let polling: Promise<void> | undefined
  let isClosed = false
  let hasFailed = false

  async function pollOnce(): Promise<void> {
    const before = stock.known()
    const there = await shared.nonces()
    const unknown = there.filter((nonce) => !before.has(nonce))
    const read = unknown.length > 0 ? await shared.read(unknown) : []
    const restored = read.map(restore)
    const invalid = read.filter((_, i) => !restored[i]).map(({ challengeNonce }) => challengeNonce)
    if (invalid.length > 0) await shared.drop(invalid)
    stock.follow(
      before,
      new Set(there),
      restored.filter((each) => each !== undefined),
    )
  }

  async function pollSafely(): Promise<void> {
    try {
      await pollOnce()
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onError(error)
      hasFailed = true
    }
    polling = undefined
    if (!isClosed) onPolled()
  }

  const poll = (): void => {
    if (!isClosed) polling ??= pollSafely()
  }
  const timer = setInterval(poll, limits.sharedAddressesPollMs).unref()
  poll()
  return {
    /** The first answer. */
    opened: polling,
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      await polling
    },
  }
}
