/** Leases as rows. They are taken, renewed and compared by the clock of the server alone. */
import { hostname } from 'node:os'
import { limits } from '../../config/limits.js'
import { systemRandom } from '../../system.js'
import type { Lease, Leases } from '../lease.js'
import { first, type Row, type Step, serverNow, sql } from '../sql.js'
import type { Client } from './client.js'
import { type InLedger, inLedger } from './transaction.js'

/** Also tells two daemons of one machine apart, and one from itself after a restart. */
const holderName = (): string =>
  `${hostname()} (process ${process.pid}, ${Buffer.from(systemRandom.bytes(4)).toString('hex')})`

export type PostgresLeases = Leases & {
  close(): Promise<void>
}

export function createLeases(
  client: Client,
  on: {
    /** Looks at the ledger with every renewal. */
    readonly look: (ledger: Row) => Step<unknown>
    readonly succeeded: () => void
    readonly failed: (err: unknown) => void
  },
): PostgresLeases {
  const holder = holderName()
  const held = new Map<string, { readonly term: number; readonly losing: AbortController }>()

  async function renew(): Promise<void> {
    const { value: names } = await inLedger(client, function* (ledger) {
      yield* on.look(ledger)
      return yield* renewed(holder, ledger.applied)
    })
    for (const [name, { losing }] of held) {
      if (names.has(name)) continue
      held.delete(name)
      losing.abort()
    }
  }

  let renewing: Promise<void> | undefined
  const timer = setInterval(() => {
    renewing ??= renew()
      .then(on.succeeded, on.failed)
      .finally(() => {
        renewing = undefined
      })
  }, limits.leaseRenewMs).unref()

  return {
    holder,
    async take(name) {
      const { value: term } = await inLedger(client, ({ applied }) => taken(name, holder, applied))
      if (term === undefined) return undefined
      const losing = new AbortController()
      held.set(name, { term, losing })
      const lease: Lease = {
        fence: { name, term },
        lost: losing.signal,
        async release() {
          if (held.get(name)?.term === term) held.delete(name)
          await inLedger(client, ({ applied }) => released(name, term, applied))
        },
      }
      return lease
    },
    async close() {
      clearInterval(timer)
      await renewing
      await inLedger(client, ({ applied }) => left(holder, applied)).catch(on.failed)
    },
  }
}

/** Tells that this daemon lives, and renews what it holds. Gives the names of that. */
function* renewed(holder: string, applied: number): InLedger<ReadonlySet<string>> {
  yield* noteAlive(holder)
  const rows = yield sql`
    UPDATE lease SET until_ms = ${serverNow} + ${limits.leaseMs} WHERE holder = ${holder} RETURNING name`
  return { value: new Set(rows.map(({ name }): string => name)), applied }
}

/**
 * A new holder has a new term, and so has one that never heard that it holds the lease. It is also the time, so that a
 * server that lost the last terms gives none of them again.
 */
function* taken(name: string, holder: string, applied: number): InLedger<number | undefined> {
  const row = yield* first(sql`
    INSERT INTO lease (name, holder, term, until_ms) VALUES (${name}, ${holder}, ${serverNow}, ${serverNow} + ${limits.leaseMs})
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, term = GREATEST(lease.term + 1, excluded.term), until_ms = excluded.until_ms
      WHERE lease.until_ms < ${serverNow} OR lease.holder = excluded.holder
    RETURNING term`)
  return { value: row?.term, applied }
}

/** The row stays: its term must never be given again. */
function* released(name: string, term: number, applied: number): InLedger<void> {
  yield sql`UPDATE lease SET until_ms = 0, holder = '' WHERE name = ${name} AND term = ${term}`
  return { value: undefined, applied }
}

function* noteAlive(holder: string): Step<void> {
  yield sql`
    INSERT INTO daemon (holder, alive_ms) VALUES (${holder}, ${serverNow})
    ON CONFLICT (holder) DO UPDATE SET alive_ms = excluded.alive_ms`
  yield sql`DELETE FROM daemon WHERE alive_ms < ${serverNow} - ${limits.daemonForgottenMs}`
}

/** A daemon that ends in order leaves nothing that others would have to wait for. */
function* left(holder: string, applied: number): InLedger<void> {
  yield sql`DELETE FROM daemon WHERE holder = ${holder}`
  yield sql`UPDATE lease SET until_ms = 0, holder = '' WHERE holder = ${holder}`
  return { value: undefined, applied }
}
