import { join } from 'node:path'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { addressOf } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import { contractSettings, describeLedger, type LedgerUnderTest } from '../../test/ledger-contract.js'
import { noEventLog } from './core.js'
import { createLedger } from './ledger.js'
import { openLedger } from './open.js'
import { createLedgerState } from './state/state.js'

/** Time moves when a test says so. A wait of ten minutes or more lasts until it is given up; a shorter one ends at once. */
function contractClock() {
  const { advance, ...clock } = stoppedClock()
  const sleep = (ms: number, signal?: AbortSignal) =>
    ms < 600_000
      ? Promise.resolve()
      : new Promise<void>((end) => signal?.addEventListener('abort', () => end()))
  return { clock: { ...clock, sleep }, advance }
}

describeLedger('in memory', async () => {
  const { clock, advance } = contractClock()
  const ledger = createLedger({ state: createLedgerState(), log: noEventLog, clock, ...contractSettings })
  return { ledger, advance, close: async () => undefined }
})

describeLedger('behind a journal', async () => {
  const { clock, advance } = contractClock()
  const journal = join(temporaryFolder(), 'journal')
  const open = async (): Promise<LedgerUnderTest> => {
    const binding = { chainId: 31337, token: addressOf(7) }
    const opened = await openLedger({
      ...{ journal, binding, clock, ...contractSettings },
      onJournalFailure: () => undefined,
    })
    return {
      ledger: opened.ledger,
      advance,
      reopen: () => opened.close().then(open),
      close: () => opened.close(),
    }
  }
  return open()
})
