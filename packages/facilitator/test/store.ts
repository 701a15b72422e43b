/** A store for tests: in memory, beside a journal, or on PostgreSQL in that project, with the clock of the test. */
import type { Clock } from '@svc-zerc20/protocol'
import { inject, onTestFinished } from 'vitest'
import { stoppedClock } from '../../../test/support/clocks.js'
import '../../../test/support/postgres-project.js'
import { runStatements } from '../../../test/support/postgres-server.js'
import { createStoreHistory } from '../src/history/answers.js'
import { createIssuedStore } from '../src/store/adapters/issued.js'
import { createStoreLedger } from '../src/store/adapters/ledger.js'
import { createStoreBooks } from '../src/store/adapters/operator-questions.js'
import { openPostgres } from '../src/store/postgres/open-postgres.js'
import type { StepSettings } from '../src/store/steps/step-context.js'
import { openHere, openInThread, type Store, type StoreOptions } from '../src/store/store.js'

export const stepSettings: StepSettings = {
  openMax: 10_000,
  openOfSellers: new Map(),
  expiredRetentionSeconds: 3600,
  unmatchedMax: { perChallenge: 2, total: 5 },
  foundPerAddressMax: 4,
}

const optionsOf = (steps: StepSettings, clock: Pick<Clock, 'now'>): StoreOptions => ({
  settings: { steps, keepSigned: { blocks: 12 } },
  limits: { journalBytesMax: 1 << 23 },
  clock,
  // No test waits for a store that hangs; on a busy machine a test may fill it for a while.
  waitMs: 300_000,
  onFailure: (err) => {
    throw err
  },
})

/** The ports of a store. */
export function portsOf(store: Store, clock: Clock, settings: StepSettings) {
  // Sleeps never end here, because the stopped clock would end every wait for a grant at once.
  const waits = { ...clock, sleep: (ms: number) => new Promise<void>((end) => ms === 0 && end()) }
  const ledger = createStoreLedger({ store, clock: waits, settings })
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

/** The server of the project `postgres`. Without one its tests run in memory once more; the run has said so. */
const serverUrl = inject('postgres')

/** How many stores a property draws. One on a server takes a while to make. */
export const stores = serverUrl === undefined ? 100 : 10

let databases = 0

/** A fresh database. */
async function openOnServer(url: string, options: StoreOptions): Promise<Store> {
  databases += 1
  const database = `ledger_${process.pid}_${databases}`
  await runStatements(url, `CREATE DATABASE ${database}`)
  return openPostgres({ ...options, database: { url: url.replace(/[^/]*$/, database), connectSeconds: 300 } })
}

/** A store that opens while it is used, and closes with its test. */
function onServer(url: string, options: StoreOptions): Store {
  const opened = openOnServer(url, options)
  onTestFinished(() => opened.then(({ close }) => close()))
  return {
    id: '',
    report: { lines: 0, bytes: 0, tornBytes: 0 },
    isCopy: false,
    closed: new AbortController().signal,
    leases: { holder: 'this test', take: async (name) => (await opened).leases.take(name) },
    change: async (name, ...args) => (await opened).change(name, ...args),
    changeUnder: async (fences, name, ...args) => (await opened).changeUnder(fences, name, ...args),
    ask: async (question) => (await opened).ask(question),
    figures: () => ({ records: 0, bytes: 0, syncs: 0, failed: false, lost: false }),
    close: async () => (await opened).close(),
  }
}

const openAlone = (options: StoreOptions): Store =>
  serverUrl === undefined ? openHere(options) : onServer(serverUrl, options)

/** Most tests need no thread, which takes a while to start. */
export async function openTestStore(
  { isThreaded = false, ...changes }: Partial<StoreOptions> & { readonly isThreaded?: boolean } = {},
  clock = stoppedClock(),
) {
  const steps = changes.settings?.steps ?? stepSettings
  const options = { ...optionsOf(steps, clock), ...changes }
  const { path } = options
  const store =
    path === undefined
      ? openAlone(options)
      : isThreaded
        ? await openInThread({ ...options, path })
        : openHere(options)
  return portsOf(store, clock, steps)
}

export type TestStore = Awaited<ReturnType<typeof openTestStore>>

/** A ledger without a journal, as `settlement.journal = "none"` gives it. */
export function createMemoryStore(clock: Clock, settings: Partial<StepSettings> = {}) {
  const steps = { ...stepSettings, ...settings }
  return portsOf(openAlone(optionsOf(steps, clock)), clock, steps)
}

export type TestLedger = Omit<ReturnType<typeof createMemoryStore>['ledger'], 'on'>
