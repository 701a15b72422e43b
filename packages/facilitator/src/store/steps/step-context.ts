/** The context of a step: the time, the settings, the rows, and the one way to change anything. */
import type { UnixSeconds } from '@svc-zerc20/protocol'
import type { LedgerEvent } from '../events.js'
import type { Rows } from '../rows/rows.js'
import type { Query, Step } from '../sql.js'

export type StepSettings = {
  readonly openMax: number
  /** Open challenges that are kept for each seller, by its name. */
  readonly openOfSellers: ReadonlyMap<string, number>
  readonly expiredRetentionSeconds: number
  readonly unmatchedMax: { readonly perChallenge: number; readonly total: number }
  /** Transfers that are kept of one address, the largest ones: dust must not fill the disk. */
  readonly foundPerAddressMax: number
}

export type StepContext = {
  readonly now: UnixSeconds
  /** The time in milliseconds by the clock that all daemons of this store share. */
  readonly sharedNow: Query
  readonly settings: StepSettings
  readonly rows: Rows
  /** Applies the event; it is durable, in the journal or on the server, before anybody hears of the step. */
  record(event: LedgerEvent): Step<void>
}
