/**
 * The ledger is made of events. Reads come from memory, and every event is in the log before anybody acts on it.
 *
 * A decision between concurrent callers (the cap, a claim) happens in memory first and is undone if the log refuses it.
 * An end (released, accepted) is recorded first, and has not happened until then.
 */
import type { Books } from '../payment/books.js'
import type { Ledger } from '../payment/ledger-port.js'
import type { FeeLedger } from '../payment/sweep/ports.js'
import { createBooks } from './books.js'
import { createBurnRecords } from './burns.js'
import { createChallenges } from './challenges.js'
import { createClaims } from './claims.js'
import { createLedgerCore, type LedgerDeps } from './core.js'
import { createGrants } from './grants.js'
import { createMintRecords } from './mints.js'
import { interruptedIn } from './state/interrupted.js'
import { createSweepRecords } from './sweeps/sweep-records.js'

export type EventLedger = Ledger &
  FeeLedger & {
    /** The operator's view; reading changes nothing. */
    readonly books: Books
    openCount(): number
    size(): number
    /** Fees of all payments that were accepted. */
    acceptedFees(): bigint
    /** Forgets challenges that are past their retention. */
    forgetExpired(): void
  }

export function createLedger(deps: LedgerDeps): EventLedger {
  const core = createLedgerCore(deps)
  const { state, open, sweep } = core
  return {
    ...createChallenges(core),
    ...createClaims(core),
    ...createBurnRecords(core),
    ...createMintRecords(core),
    ...createGrants(core),
    ...createSweepRecords(core),
    interrupted: async () => interruptedIn(state),
    books: createBooks(core),
    openCount() {
      sweep()
      return open.size()
    },
    size: state.size,
    acceptedFees: state.acceptedFees,
    forgetExpired: sweep,
  }
}
