/** The ledger on the store: in memory, and beside a journal. */
import { join } from 'node:path'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { temporaryFolder } from '../../../test/folder.js'
import { contractSettings, describeLedger, type LedgerUnderTest } from '../../../test/ledger-contract.js'
import { openTestStore } from '../../../test/store.js'
import { createStoreLedger } from './ledger.js'

async function open(path?: string, clock = stoppedClock()): Promise<LedgerUnderTest> {
  const settings = { steps: contractSettings, keepSigned: { blocks: 12 } }
  const { store } = await openTestStore({ ...(path !== undefined && { path }), settings }, clock)
  // Sleeps never end here, because the stopped clock would end every wait for a grant at once.
  const waits = { ...clock, sleep: (ms: number) => new Promise<void>((end) => ms === 0 && end()) }
  const ledger = createStoreLedger({
    store,
    clock: waits,
    settings: contractSettings,
    askerOf: () => undefined,
  })
  return {
    ledger,
    advance: clock.advance,
    close: store.close,
    ...(path !== undefined && {
      async reopen() {
        await store.close()
        return open(path, clock)
      },
    }),
  }
}

describeLedger('on the store, in memory', () => open())
describeLedger('on the store, beside a journal', () => open(join(temporaryFolder(), 'journal.jsonl')))
