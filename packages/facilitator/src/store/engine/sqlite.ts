/** SQLite: one connection that writes, others that only read. Statements are prepared once. */
import Database from 'libsql'
import type { Query, Row, Step } from '../sql.js'

type Prepared = { readonly statement: ReturnType<Database.Database['prepare']>; readonly isReader: boolean }

/** A connection. Every call is synchronous. */
export type Connection = {
  query(query: Query): readonly Row[]
  run<T>(step: Step<T>): T
  exec(text: string): void
  close(): void
}

/** Statements that are kept prepared. Questions with many filters have many texts. */
const statementsMax = 500

export function openSqlite(path: string, { isReader = false } = {}): Connection {
  const database = new Database(path)
  if (isReader) database.exec('PRAGMA query_only = 1; PRAGMA wal_autocheckpoint = 0')
  const statements = new Map<string, Prepared>()

  function prepared(text: string): Prepared {
    const known = statements.get(text)
    if (known) return known
    if (statements.size >= statementsMax) statements.clear()
    const statement = database.prepare(text)
    const made = { statement, isReader: statement.reader }
    statements.set(text, made)
    return made
  }

  function query({ text, values }: Query): readonly Row[] {
    const { statement, isReader } = prepared(text)
    if (isReader) return statement.all(values) as readonly Row[]
    statement.run(values)
    return []
  }

  return {
    query,
    run(step) {
      let next = step.next()
      while (!next.done) {
        let rows: readonly Row[]
        try {
          rows = query(next.value)
        } catch (error) {
          next = step.throw(error)
          continue
        }
        next = step.next(rows)
      }
      return next.value
    },
    exec: (text) => void database.exec(text),
    close: () => void database.close(),
  }
}
