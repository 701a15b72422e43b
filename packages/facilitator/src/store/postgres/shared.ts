/** What daemons share beside the ledger, on their PostgreSQL server. */
import { limits } from '../../config/limits.js'
import type { Shared } from '../ports/shared.js'
import { connectAside, type Database } from './client.js'
import { createCounts } from './counts.js'

/** `secret` is the same at all daemons, and hides callers in the database. */
export function openShared(database: Database, secret: Uint8Array): Shared & { close(): Promise<void> } {
  const { send, close } = connectAside(database)
  return { counts: createCounts({ send, secret, patienceMs: limits.sharedCountMs }), close }
}
