/** The rows of a ledger that events decide, as a text that can be compared; and what they must be. */
import { expect } from 'vitest'
import { apply, type KeepSigned } from '../src/store/apply.js'
import { openInMemory } from '../src/store/engine/open-database.js'
import type { Connection } from '../src/store/engine/sqlite.js'
import type { LedgerEvent } from '../src/store/events.js'
import { createRows } from '../src/store/rows/rows.js'
import { sql } from '../src/store/sql.js'
import { decode } from '../src/store/stored.js'

const tables = [
  ...['ledger', 'event', 'payment', 'permit', 'leaf', 'signed', 'carried', 'counted', 'account', 'sweep'],
  'setting',
]

/** Without what tells one ledger from another. */
export function contentOf(connection: Connection): string {
  const plain = (name: string, value: unknown) =>
    value instanceof ArrayBuffer
      ? Buffer.from(value).toString('hex')
      : typeof value === 'string' && (name === 'id' || name === 'applied_crc')
        ? undefined
        : value
  const rowsOf = (table: string) =>
    connection
      .query({ text: `SELECT * FROM ${table} ORDER BY 1, 2`, values: [] })
      .map((row) => JSON.stringify(row, plain))
  return tables.map((table) => [table, ...rowsOf(table)].join('\n')).join('\n')
}

/** Names the first row that differs. */
export function expectSame(content: string, expected = 'no such ledger'): void {
  if (content === expected) return
  const others = expected.split('\n')
  const rows = content.split('\n')
  const place = rows.findIndex((row, i) => row !== others[i])
  expect(rows.slice(place, place + 2)).toEqual(others.slice(place, place + 2))
  expect(rows.length).toBe(others.length)
}

/** The content of a ledger without events, and after each of its events: they are applied once more, one by one. */
export function foldsOf(connection: Connection, keep: KeepSigned): readonly string[] {
  const memory = openInMemory()
  const rows = createRows()
  const states = [contentOf(memory.connection)]
  for (const { seq, at, record } of connection.query(sql`SELECT seq, at, record FROM event ORDER BY seq`)) {
    memory.connection.run(apply(decode<LedgerEvent>(record), seq, { at, keep, rows }))
    memory.connection.query(sql`UPDATE ledger SET applied = ${seq}`)
    states.push(contentOf(memory.connection))
  }
  memory.close()
  return states
}
