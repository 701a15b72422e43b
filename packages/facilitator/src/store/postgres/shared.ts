/** Tables that daemons share beside the ledger, on their PostgreSQL server. */
import type { SharedAddresses } from '../../addresses/shared-stock.js'
import { connectAside, type Database } from './client.js'
import { createSharedReady } from './ready.js'

/** A daemon with its own ledger needs none of it. */
export type Shared = {
  readonly ready: SharedAddresses
}

export function openShared(deps: {
  readonly database: Database
  /** This daemon as others see it. */
  readonly holder: string
}): Shared & { close(): Promise<void> } {
  const { send, close } = connectAside(deps.database)
  return {
    ready: createSharedReady({ send, holder: deps.holder }),
    close,
  }
}
