/** The leases of accounts that send burns. */
import type { Address } from '@svc-zerc20/protocol'
import { type Query, type Step, sql } from '../sql.js'

const prefix = 'send '

export const sendLease = (account: Address): string => `${prefix}${account}`

/** The accounts whose daemons live at this time of the store's clock. */
export function* livingSenders(at: Query): Step<ReadonlySet<Address>> {
  const rows = yield sql`SELECT name FROM lease WHERE until_ms >= ${at} AND name LIKE ${`${prefix}%`}`
  return new Set(rows.map(({ name }) => name.slice(prefix.length) as Address))
}
