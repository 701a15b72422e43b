/** The database of a simulation: the real steps on SQLite in memory, and the leases that a PostgreSQL server would keep. */
import { limits } from '../../src/config/limits.js'
import { openInMemory } from '../../src/store/engine/open-database.js'
import { asOneStep, type GroupSettings, type Request } from '../../src/store/group.js'
import { createRows } from '../../src/store/rows/rows.js'
import { type Step, sql } from '../../src/store/sql.js'

export type Database = ReturnType<typeof openDatabase>

/** As the schema of a shared ledger has them. */
const sharedTables = `
CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, term INTEGER NOT NULL, until_ms INTEGER NOT NULL);
CREATE TABLE hold (nonce BLOB PRIMARY KEY, holder TEXT NOT NULL, until_ms INTEGER NOT NULL);`

/** How a question to a server asks for the server's time. */
const serverTime = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)'

export function openDatabase(deps: {
  readonly settings: GroupSettings
  readonly now: () => number
  /** Hears that events were recorded. */
  readonly onEvents: () => void
}) {
  const { connection, close } = openInMemory()
  connection.exec(sharedTables)
  let applied = 0

  /** A step whose questions ask for the time as SQLite can tell it. */
  function* inTime<T>(step: Step<T>): Step<T> {
    let next = step.next()
    while (!next.done) {
      const { text, values } = next.value
      next = step.next(yield { text: text.replace(serverTime, `${deps.now()}`), values })
    }
    return next.value
  }

  return {
    /** Runs a step in a transaction of its own. */
    run(request: Request): unknown {
      const leases = connection.query(sql`SELECT name, term FROM lease`)
      const terms = Object.fromEntries(leases.map(({ name, term }) => [name, term]))
      connection.exec('BEGIN')
      try {
        const group = connection.run(
          asOneStep([request], {
            applied,
            settings: deps.settings,
            rows: createRows(),
            shared: { terms, nowMs: deps.now() },
          }),
        )
        connection.query(sql`UPDATE ledger SET applied = ${group.applied}`)
        connection.exec('COMMIT')
        const hasEvents = group.applied > applied
        applied = group.applied
        if (hasEvents) deps.onEvents()
        const [reply] = group.replies
        if (!reply || 'error' in reply) throw reply?.error
        return reply.value
      } catch (error) {
        try {
          connection.exec('ROLLBACK')
        } catch {
          // It is committed.
        }
        throw error
      }
    },

    ask: <T>(question: Step<T>): T => connection.run(inTime(question)),

    /** The new term; undefined while another holder has the lease. */
    take(name: string, holder: string): number | undefined {
      const nowMs = deps.now()
      const [row] = connection.query(sql`
        INSERT INTO lease (name, holder, term, until_ms) VALUES (${name}, ${holder}, 1, ${nowMs + limits.leaseMs})
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, term = lease.term + 1, until_ms = excluded.until_ms
          WHERE lease.until_ms < ${nowMs} OR lease.holder = excluded.holder
        RETURNING term`)
      return row?.term
    },

    /** The names of what the holder has. */
    renew(holder: string): ReadonlySet<string> {
      const rows = connection.query(
        sql`UPDATE lease SET until_ms = ${deps.now() + limits.leaseMs} WHERE holder = ${holder} RETURNING name`,
      )
      return new Set(rows.map(({ name }): string => name))
    },

    release(name: string, term: number): void {
      connection.query(
        sql`UPDATE lease SET until_ms = 0, holder = '' WHERE name = ${name} AND term = ${term}`,
      )
    },

    close,
  }
}
