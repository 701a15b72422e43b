import { expect, it } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { addressOf, describeAddressReserve } from '../../test/address-reserve-contract.js'
import { createMemoryStore } from '../../test/memory-store.js'
import { type AddressStore, createAddressReserve, type StoredAddress } from './reserve.js'

const reserveOn = (store: AddressStore, onError: (err: unknown) => void = () => undefined) =>
  createAddressReserve<StoredAddress>({ store, clock: movableClock(), restore: (stored) => stored, onError })

describeAddressReserve('on a store', async () => {
  const { store } = createMemoryStore()
  const reserve = reserveOn(store)
  await reserve.open()
  return {
    reserve,
    async reopen() {
      const other = reserveOn(store)
      await other.open()
      return other
    },
  }
})

it('a reserve gives nothing while its store refuses, and loses nothing by that', async () => {
  const { store, state } = createMemoryStore([addressOf(1)])
  const errors: unknown[] = []
  const reserve = reserveOn(store, (err) => errors.push(err))
  await reserve.open()
  state.failing = true
  expect([await reserve.draw(1), errors.length]).toEqual([[], 1])
  state.failing = false
  expect(await reserve.draw(1)).toEqual([addressOf(1)])
})
