/** A ledger as the daemon opens it, with the settings of a test. */
import { stoppedClock } from '../../../test/support/clocks.js'
import { type OpenLedgerDeps, openLedger } from '../src/store/open.js'
import { addressOf } from './challenges.js'
import { stepSettings } from './store.js'

export const testBinding = { chainId: 31337, token: addressOf(7), helper: addressOf(8), seed: 'ab' }

export const openTestLedger = (changes: Partial<OpenLedgerDeps> = {}) =>
  openLedger({
    journal: 'none',
    binding: testBinding,
    clock: stoppedClock(),
    ...stepSettings,
    keepSigned: { blocks: 12 },
    limits: { journalBytesMax: 1 << 23, storageWaitMs: 5_000 },
    onFailure: (err) => {
      throw err
    },
    ...changes,
  })
