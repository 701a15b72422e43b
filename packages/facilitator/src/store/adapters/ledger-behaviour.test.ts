/** The ledger on the store: in memory, and beside a journal. */
import { join } from 'node:path'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { temporaryFolder } from '../../../test/folder.js'
import { contractSettings, describeLedger, type LedgerUnderTest } from '../../../test/ledger-contract.js'
import { openTestStore } from '../../../test/store.js'

async function open(
  where: { path?: string; isThreaded?: boolean } = {},
  clock = stoppedClock(),
): Promise<LedgerUnderTest> {
  const settings = { steps: contractSettings, keepSigned: { blocks: 12 } }
  const { store, ledger } = await openTestStore({ ...where, settings }, clock)
  return {
    ledger,
    advance: clock.advance,
    close: store.close,
    ...(where.path !== undefined && {
      async reopen() {
        await store.close()
        return open(where, clock)
      },
    }),
  }
}

const newPath = () => join(temporaryFolder(), 'journal.jsonl')

describeLedger('on the store, in memory', () => open())
describeLedger('on the store, beside a journal', () => open({ path: newPath() }))
describeLedger('on the store, in a thread beside a journal', () =>
  open({ path: newPath(), isThreaded: true }),
)
