/** A store for tests: in memory, or beside a journal, with the clock of the test. */
import { stoppedClock } from '../../../test/support/clocks.js'
import { createStoreHistory } from '../src/history/stored-books.js'
import { createStoreBooks } from '../src/store/ports/books.js'
import { createIssuedStore } from '../src/store/ports/issued.js'
import { createStoreLedger } from '../src/store/ports/ledger.js'
import { openStore, type StoreOptions } from '../src/store/store.js'

const storeSettings = {
  openMax: 10_000,
  expiredRetentionSeconds: 3600,
  unmatchedMax: { perChallenge: 2, total: 5 },
}

export async function openTestStore(options: Partial<StoreOptions> = {}, clock = stoppedClock()) {
  const store = await openStore({
    settings: { steps: storeSettings, keepSigned: { blocks: 12 } },
    limits: { journalBytesMax: 1 << 23 },
    clock,
    waitMs: 5_000,
    onFailure: (err) => {
      throw err
    },
    ...options,
  })
  // Sleeps never end here, because the stopped clock would end every wait for a grant at once.
  const waits = { ...clock, sleep: (ms: number) => new Promise<void>((end) => ms === 0 && end()) }
  const ledger = createStoreLedger({ store, clock: waits, settings: storeSettings, askerOf: () => undefined })
  const at = () => ({ now: Math.floor(clock.now() / 1000), settings: storeSettings })
  return {
    store,
    clock,
    ledger,
    books: createStoreBooks(store, at),
    history: createStoreHistory(store),
    issued: createIssuedStore(store),
    close: store.close,
  }
}

export type TestStore = Awaited<ReturnType<typeof openTestStore>>
