import type { AddressStore, StoredAddress } from '../src/addresses/reserve.js'

/** A store in memory. A test can hold its saves back. */
export function createMemoryStore(saved: readonly StoredAddress[] = []) {
  const state = { saved, saves: 0, failing: false }
  let gate: Promise<void> = Promise.resolve()
  const store: AddressStore = {
    load: async () => state.saved,
    async save(addresses) {
      await gate
      if (state.failing) throw new Error('the disk is full')
      state.saved = addresses
      state.saves += 1
    },
  }
  /** Holds saves back until the returned function is called. */
  function holdSaves(): () => void {
    let open: () => void = () => undefined
    gate = new Promise((resolve) => {
      open = resolve
    })
    return open
  }
  return { state, store, holdSaves }
}
