/** Tables that daemons share beside the ledger, on their PostgreSQL server. */
import type { SharedAddresses } from '../../addresses/shared-stock.js'
import { limits } from '../../config/limits.js'
import { connectAside, type Database } from './client.js'
import { createCounts, type SharedCounts } from './counts.js'
import { createSharedReady } from './ready.js'

/** A daemon with its own ledger needs none of it. */
export type Shared = {
  readonly counts: SharedCounts
  readonly ready: SharedAddresses
}

export function openShared(deps: {
  readonly database: Database
  /** The same at all daemons. Hides callers in the database. */
  readonly callerSecret: Uint8Array
  /** This daemon as others see it. */
  readonly holder: string
}): Shared & { close(): Promise<void> } {
  const { send, close } = connectAside(deps.database)
  return {
    counts: createCounts({ send, secret: deps.callerSecret, patienceMs: limits.sharedCountMs }),
    ready: createSharedReady({ send, holder: deps.holder }),
    close,
  }
}
