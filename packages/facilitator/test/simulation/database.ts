/** The database of a simulation: the real steps on SQLite in memory, with the tables that daemons share on a PostgreSQL server. */
import { openInMemory } from '../../src/store/engine/open-database.js'
import { type GroupSettings, type Request, runSteps } from '../../src/store/group.js'
import { createRows } from '../../src/store/rows/rows.js'
import { type Query, type Step, serverNow, sql } from '../../src/store/sql.js'

export type Database = ReturnType<typeof openDatabase>

/** As the schema of a shared ledger has them. */
const sharedTables = `
CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, term INTEGER NOT NULL, until_ms INTEGER NOT NULL);
CREATE TABLE daemon (holder TEXT PRIMARY KEY, alive_ms INTEGER NOT NULL);`

/**
 * One database for all histories of this process: each is a transaction that is taken back at its end, so that tables are
 * made, and statements prepared, once.
 */
const { connection } = openInMemory()
connection.exec(sharedTables)

const begin = sql`SAVEPOINT step`
const commit = sql`RELEASE step`
const takeBack = sql`ROLLBACK TO step`

export function openDatabase(deps: { readonly settings: GroupSettings; readonly now: () => number }) {
  connection.exec('BEGIN')
  let applied = 0

  /** A step whose questions ask for the time as SQLite can tell it. */
  function* inTime<T>(step: Step<T>): Step<T> {
    let next = step.next()
    while (!next.done) {
      next = step.next(yield next.value.text.includes(serverNow.text) ? timed(next.value) : next.value)
    }
    return next.value
  }

  /** The time is a value, so that a statement keeps its text, and stays prepared. */
  function timed({ text, values }: Query): Query {
    const parts = text.split(serverNow.text)
    const left = [...values]
    const given = parts.flatMap((part, i) => {
      const own = left.splice(0, part.split('?').length - 1)
      return i < parts.length - 1 ? [...own, deps.now()] : own
    })
    return { text: parts.join('?'), values: given }
  }

  function termsOf(fences: Request['fences'] = []): Record<string, number> {
    if (fences.length === 0) return {}
    const leases = connection.query(sql`SELECT name, term FROM lease`)
    return Object.fromEntries(leases.map(({ name, term }) => [name, term]))
  }

  return {
    /** Runs a step in its own transaction. */
    run(request: Request): unknown {
      const group = runSteps([request], {
        applied,
        settings: deps.settings,
        rows: createRows(),
        shared: { terms: termsOf(request.fences), now: sql`${deps.now()}` },
      })
      const { replies, applied: next } = inOne(() => {
        const done = connection.run(group)
        connection.query(sql`UPDATE ledger SET applied = ${done.applied}`)
        return done
      })
      applied = next
      const [reply] = replies
      if (!reply || 'error' in reply) throw reply?.error
      return reply.value
    },

    /** A question, or a step that records no event. */
    ask: <T>(question: Step<T>): T => connection.run(inTime(question)),

    close: () => connection.exec('ROLLBACK'),
  }
}

function inOne<T>(work: () => T): T {
  connection.query(begin)
  try {
    return work()
  } catch (error) {
    connection.query(takeBack)
    throw error
  } finally {
    connection.query(commit)
  }
}
