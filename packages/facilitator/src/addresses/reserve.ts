import type { Hex } from '@svc-zerc20/zk'
import type { AddressReserve } from '../payment/ports.js'
import type { AddressEpoch } from '../payment/records.js'
import { limits } from './limits.js'
import type { Sleeper } from './wait-line.js'

/**
 * The stored part of a mined address. With seed, treasury and chain the address derives again. No secret is in it. It
 * says what it was made with: under other terms it is another address, or one that nobody finds again by its nonce.
 */
export type StoredAddress = {
  /** 32 bytes of 0x hex. */
  readonly challengeNonce: Hex
  readonly powNonce: number
  /** Bits of the proof of work that was searched for. */
  readonly powBits: number
  readonly payTo: Hex
  /** Present for an address that is minted in a batch. */
  readonly epoch?: AddressEpoch
}

/** A store in which mined addresses outlive the process. */
export type AddressStore = {
  /** The addresses of the last save. */
  load(): Promise<readonly StoredAddress[]>
  /** Replaces all addresses of earlier saves. Durable when it resolves; a crash leaves the old ones or the new ones. */
  save(addresses: readonly StoredAddress[]): Promise<void>
}

export type AddressReserveDeps<Address extends StoredAddress> = {
  readonly store: AddressStore
  readonly clock: Sleeper
  /** Derives the address again. Undefined when it is not valid under the present terms. */
  readonly restore: (stored: StoredAddress) => Address | undefined
  readonly onError: (error: unknown) => void
}

export function createAddressReserve<Address extends StoredAddress>(
  deps: AddressReserveDeps<Address>,
): AddressReserve<Address> {
  const { store, clock, restore, onError } = deps
  const closed = new AbortController()
  let held: Address[] = []
  /** Addresses that leave the store, or have left it, and are not given yet. */
  let inTransit = 0
  let isDirty = false
  /** Saves run one after the other, each with the addresses that are held when it begins. */
  let saving: Promise<unknown> = Promise.resolve()

  function save(addresses: () => readonly Address[]): Promise<void> {
    const saved = saving.then(() =>
      store.save(
        addresses().map(({ challengeNonce, powNonce, powBits, payTo, epoch }) => ({
          challengeNonce,
          powNonce,
          powBits,
          payTo,
          ...(epoch && { epoch }),
        })),
      ),
    )
    saving = saved.catch(() => undefined)
    return saved
  }

  /** Waits for more addresses first: each save writes the whole store and makes others wait for the disk. */
  async function saveSoon(): Promise<void> {
    await clock.sleep(limits.saveGatherMs, closed.signal).catch(() => undefined) // a pause cut short is over
    if (isDirty && !closed.signal.aborted) await saveHeld()
  }

  async function saveHeld(): Promise<void> {
    try {
      await save(() => {
        isDirty = false
        return held
      })
    } catch (error) {
      isDirty = true
      onError(error)
      await clock.sleep(limits.refillPauseMs, closed.signal).catch(() => undefined) // a pause cut short is over
      if (isDirty && !closed.signal.aborted) await saveHeld()
    }
  }

  return {
    size: () => held.length + inTransit,
    async open() {
      try {
        held = (await store.load()).flatMap((stored) => restore(stored) ?? [])
      } catch (error) {
        onError(error)
      }
    },
    add(address) {
      held.push(address)
      if (isDirty) return // a save that has not begun takes it along
      isDirty = true
      void saveSoon()
    },
    async draw(count) {
      if (closed.signal.aborted || held.length === 0) return []
      let drawn: readonly Address[] = []
      try {
        await save(() => {
          drawn = held.slice(0, count)
          held = held.slice(count)
          inTransit = drawn.length
          isDirty = false
          return held
        })
        return drawn
      } catch (error) {
        // The store may still have these addresses: they stay here until a save without them succeeds.
        held = [...drawn, ...held]
        onError(error)
        return []
      } finally {
        inTransit = 0
      }
    },
    async close(unused) {
      closed.abort()
      await save(() => [...unused, ...held]).catch(onError)
    },
  }
}
