/**
 * Leases. Several daemons may share a store, and some work is for one of them at a time. A lease says whose it is. Its term
 * grows with each holder, and every step that is made under a lease compares the term in its own transaction: a daemon that
 * was stopped for a while and wakes up can change nothing that another one has taken over.
 */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { type Query, type Step, sql } from './sql.js'

/** A lease by name, and the term in which a step was meant. */
export type Fence = { readonly name: string; readonly term: number }

export type Lease = {
  /** Absent where nobody else can reach the store. */
  readonly fence?: Fence
  /** Aborted once another daemon holds it. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

export type Leases = {
  /** This daemon as others see it. Absent where nobody else can reach the store. */
  readonly holder?: string
  /** Undefined while another daemon holds it. */
  take(name: string): Promise<Lease | undefined>
}

/** The leases of a store that nobody else can reach. */
export const ownLeases: Leases = {
  take: async () => ({ lost: new AbortController().signal, release: async () => undefined }),
}

export const leaseLost = (message = 'another daemon does this work, or has taken it over'): SvcError =>
  new SvcError('lease_lost', message)

const sendPrefix = 'send '

/** The lease of an account that sends burns. */
export const sendLease = (account: Address): string => `${sendPrefix}${account}`

/** Ends the term of a lease that has run out: its holder, should it wake up, must take it again. */
export function* endLease(name: string): Step<void> {
  yield sql`UPDATE lease SET term = term + 1, holder = '' WHERE name = ${name} AND holder <> ''`
}

/** The accounts whose daemons live at this time of the store's clock. */
export function* livingSenders(at: Query): Step<ReadonlySet<Address>> {
  const rows = yield sql`SELECT name FROM lease WHERE until_ms >= ${at} AND name LIKE ${`${sendPrefix}%`}`
  return new Set(rows.map(({ name }) => name.slice(sendPrefix.length) as Address))
}
