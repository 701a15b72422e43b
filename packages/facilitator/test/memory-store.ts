/** Ready addresses in memory. A test can make them refuse. */
import type { AddressStore } from '../src/addresses/stock.js'
import type { ReadyAddress } from '../src/payment/ports.js'

export function createMemoryAddresses() {
  const state = { saved: [] as ReadyAddress[], failing: false }
  const store: AddressStore = {
    load: async () => state.saved,
    async add(address) {
      if (state.failing) throw new Error('the disk is full')
      state.saved = [...state.saved, address]
    },
    async drop(nonces) {
      state.saved = state.saved.filter(({ challengeNonce }) => !nonces.includes(challengeNonce))
    },
  }
  return { state, store }
}
