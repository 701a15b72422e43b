/** A ledger without a journal, as `settlement.journal = "none"` gives it. */
import { noEventLog } from '../src/ledger/core.js'
import { createLedger } from '../src/ledger/ledger.js'
import { createLedgerState } from '../src/ledger/state/state.js'
import type { Clock } from '../src/payment/ports.js'

export function createMemoryLedger(options: {
  clock: Clock
  openMax: number
  expiredRetentionSeconds: number
  unmatchedMax?: { perChallenge: number; total: number }
}) {
  // Sleeps never end here, because the stopped clock would end every wait for a grant at once.
  const clock = { ...options.clock, sleep: () => new Promise<void>(() => undefined) }
  const { unmatchedMax = { perChallenge: 2, total: 5 } } = options
  return createLedger({ state: createLedgerState(), log: noEventLog, ...options, unmatchedMax, clock })
}
