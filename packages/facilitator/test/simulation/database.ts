/** The database of a simulation: the real steps on SQLite in memory, with the tables that daemons share on a PostgreSQL server. */
import { openInMemory } from '../../src/store/engine/open-database.js'
import { asOneStep, type GroupSettings, type Request } from '../../src/store/group.js'
import { createRows } from '../../src/store/rows/rows.js'
import { type Step, serverNow, sql } from '../../src/store/sql.js'

export type Database = ReturnType<typeof openDatabase>

/** As the schema of a shared ledger has them. */
const sharedTables = `
CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, term INTEGER NOT NULL, until_ms INTEGER NOT NULL);
CREATE TABLE daemon (holder TEXT PRIMARY KEY, alive_ms INTEGER NOT NULL);
CREATE TABLE hold (nonce BLOB PRIMARY KEY, holder TEXT NOT NULL, until_ms INTEGER NOT NULL);
CREATE TABLE payer_wait (payer BLOB PRIMARY KEY, failures INTEGER NOT NULL, until_ms INTEGER NOT NULL);`

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
      next = step.next(yield { text: text.replaceAll(serverNow.text, `${deps.now()}`), values })
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
            shared: { terms, now: sql`${deps.now()}` },
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

    /** A question, or a step that records no event. */
    ask: <T>(question: Step<T>): T => connection.run(inTime(question)),

    close,
  }
}
