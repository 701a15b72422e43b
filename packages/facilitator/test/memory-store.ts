import type { AddressStore, StoredAddress } from '../src/addresses/reserve.js'

/** A store whose saves wait until the test lets them through, if it asks for that. */
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
  /** Holds up saves until the function it gives back is called. */
  function holdSaves(): () => void {
    let open: () => void = () => undefined
    gate = new Promise((resolve) => {
      open = resolve
    })
    return open
  }
  return { state, store, holdSaves }
}
