/** A store for tests: in memory, or beside a journal, with the clock of the test. */
import { stoppedClock } from '../../../test/support/clocks.js'
import { createStoreHistory } from '../src/history/pages.js'
import type { Clock } from '../src/payment/ports.js'
import { createIssuedStore } from '../src/store/ports/issued.js'
import { createStoreLedger } from '../src/store/ports/ledger.js'
import { createStoreBooks } from '../src/store/ports/operator-questions.js'
import type { StepSettings } from '../src/store/steps/step-context.js'
import { openHere, openInThread, type Store, type StoreOptions } from '../src/store/store.js'

export const stepSettings: StepSettings = {
  openMax: 10_000,
  expiredRetentionSeconds: 3600,
  unmatchedMax: { perChallenge: 2, total: 5 },
  foundPerAddressMax: 4,
}

const optionsOf = (steps: StepSettings, clock: Pick<Clock, 'now'>): StoreOptions => ({
  settings: { steps, keepSigned: { blocks: 12 } },
  limits: { journalBytesMax: 1 << 23 },
  clock,
  waitMs: 5_000,
  onFailure: (err) => {
    throw err
  },
})

/** The ports of a store. */
function portsOf(store: Store, clock: Clock, settings: StepSettings) {
  // Sleeps never end here, because the stopped clock would end every wait for a grant at once.
  const waits = { ...clock, sleep: (ms: number) => new Promise<void>((end) => ms === 0 && end()) }
  const ledger = createStoreLedger({ store, clock: waits, settings, askerOf: () => undefined })
  const at = () => ({ now: Math.floor(clock.now() / 1000), settings })
  const books = createStoreBooks(store, at)
  return {
    store,
    clock,
    ledger: { ...ledger, books },
    books,
    history: createStoreHistory(store),
    issued: createIssuedStore(store),
    close: store.close,
  }
}

/** Most tests need no thread, which takes a while to start. */
export async function openTestStore(
  { isThreaded = false, ...changes }: Partial<StoreOptions> & { readonly isThreaded?: boolean } = {},
  clock = stoppedClock(),
) {
  const steps = changes.settings?.steps ?? stepSettings
  const options = { ...optionsOf(steps, clock), ...changes }
  const { path } = options
  const store =
    isThreaded && path !== undefined ? await openInThread({ ...options, path }) : openHere(options)
  return portsOf(store, clock, steps)
}

export type TestStore = Awaited<ReturnType<typeof openTestStore>>

/** A ledger without a journal, as `settlement.journal = "none"` gives it. */
export function createMemoryStore(clock: Clock, settings: Partial<StepSettings> = {}) {
  const steps = { ...stepSettings, ...settings }
  return portsOf(openHere(optionsOf(steps, clock)), clock, steps)
}

export type TestLedger = ReturnType<typeof createMemoryStore>['ledger']
