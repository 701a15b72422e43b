/** What every reserve of addresses must do, wherever it keeps them. */
import { describe, expect, it } from 'vitest'
import type { StoredAddress } from '../src/addresses/reserve.js'
import type { AddressReserve } from '../src/payment/ports.js'
import { nonceOf } from './challenges.js'

export type ReserveUnderTest = {
  readonly reserve: AddressReserve<StoredAddress>
  /** The reserve as another process finds it now, whether or not this one was closed. */
  reopen(): Promise<AddressReserve<StoredAddress>>
}

export const addressOf = (seed: number): StoredAddress => ({
  challengeNonce: nonceOf(seed),
  powNonce: seed,
  powBits: 2,
  payTo: `0x${seed.toString(16).padStart(40, '0')}`,
})
const seedsOf = (addresses: readonly StoredAddress[]) => addresses.map(({ powNonce }) => powNonce)

export function describeAddressReserve(name: string, open: () => Promise<ReserveUnderTest>): void {
  const openWith = async (count: number) => {
    const under = await open()
    for (let seed = 1; seed <= count; seed++) under.reserve.add(addressOf(seed))
    return under
  }

  describe(`a reserve of addresses ${name}`, () => {
    it('gives each address once, oldest first, however many draw at the same time', async () => {
      const { reserve } = await openWith(5)
      expect(reserve.size()).toBe(5)
      const drawn = await Promise.all([2, 2, 2, 2].map((count) => reserve.draw(count)))
      expect(seedsOf(drawn.flat())).toEqual([1, 2, 3, 4, 5])
      expect([reserve.size(), await reserve.draw(1)]).toEqual([0, []])
    })

    it('has let go of a drawn address before it is given: after a crash nobody finds it again', async () => {
      const { reserve, reopen } = await openWith(4)
      expect(seedsOf(await reserve.draw(2))).toEqual([1, 2])
      expect(seedsOf(await (await reopen()).draw(9))).toEqual([3, 4])
    })

    it('keeps at its end what was not handed out, and gives nothing afterwards', async () => {
      const { reserve, reopen } = await openWith(4)
      const [, unused] = await reserve.draw(2)
      await reserve.close(unused ? [unused] : [])
      expect(await reserve.draw(1)).toEqual([])
      expect(seedsOf(await (await reopen()).draw(9))).toEqual([2, 3, 4])
    })
  })
}
