/** The ledger on the store: in memory, and in its thread beside a journal. */
import { join } from 'node:path'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { temporaryFolder } from '../../../test/folder.js'
import { behaviourSettings, describeLedger, type LedgerUnderTest } from '../../../test/ledger-behaviour.js'
import { openTestStore } from '../../../test/store.js'

async function open(
  where: { path?: string; isThreaded?: boolean } = {},
  clock = stoppedClock(),
): Promise<LedgerUnderTest> {
  const settings = { steps: behaviourSettings, keepSigned: { blocks: 12 } }
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

describeLedger('on the store, in memory', () => open())
describeLedger('on the store, in its thread beside a journal', () =>
  open({ path: join(temporaryFolder(), 'journal.jsonl'), isThreaded: true }),
)
