/**
 * Copies a ledger from SQLite to PostgreSQL: every row of every table, compared afterwards. The source says that it was
 * moved before the target can be used, so that no ledger is ever alive twice.
 */
import { createHash } from 'node:crypto'
import { SvcError } from '@svc-zerc20/protocol'
import { type Query, type Row, type Step, sql, type Value } from '../sql.js'

/** A table as both engines have it. */
export type Table = {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns of its primary key, in their order. */
  readonly key: readonly string[]
}

/** Rows that are read, and written, at once. */
const pageRows = 500

/** A ledger that steps are run against. */
export type Side = { run<T>(step: Step<T>): Promise<T> }

/** Progress that an operator reads while it takes long. */
export type Say = (line: string) => void

export type Copied = { readonly table: string; readonly rows: number }

/** Copies all rows, and compares what was read with what was written. The tables of the target must be empty. */
export async function copyTables(
  from: Side,
  to: Side,
  tables: readonly Table[],
  say: Say,
): Promise<readonly Copied[]> {
  const copied: Copied[] = []
  for (const table of tables) {
    const read = await over(table, from, say, (rows) => to.run(insert(table, rows)))
    const written = await over(table, to, () => undefined)
    if (read.digest !== written.digest) {
      throw new SvcError(
        'invariant',
        `${table.name}: ${read.rows} rows were read and ${written.rows} written, and they differ; nothing was moved`,
      )
    }
    copied.push({ table: table.name, rows: read.rows })
  }
  return copied
}

/** Goes over the rows of a table in the order of its key. */
async function over(
  table: Table,
  side: Side,
  say: Say,
  each: (rows: readonly Row[]) => Promise<void> = async () => undefined,
): Promise<{ readonly rows: number; readonly digest: string }> {
  const hash = createHash('sha256')
  let count = 0
  let last: Row | undefined
  for (;;) {
    const rows = await side.run(page(table, last))
    for (const row of rows) hash.update(JSON.stringify(table.columns.map((name) => shown(row[name]))))
    if (rows.length > 0) await each(rows)
    count += rows.length
    last = rows.at(-1)
    if (rows.length < pageRows) return { rows: count, digest: hash.digest('hex') }
    if (count % (20 * pageRows) === 0) say(`${table.name}: ${count} rows`)
  }
}

function* page({ name, columns, key }: Table, last: Row | undefined): Step<readonly Row[]> {
  const [all, order] = [plain(columns.join(', ')), plain(key.join(', '))]
  const behind = last
    ? sql`WHERE (${order}) > (${joined(key.map((column) => sql`${storable(last[column])}`))})`
    : plain('')
  return yield sql`SELECT ${all} FROM ${plain(name)} ${behind} ORDER BY ${order} LIMIT ${pageRows}`
}

function* insert({ name, columns }: Table, rows: readonly Row[]): Step<void> {
  const lines = rows.map((row) => sql`(${joined(columns.map((column) => sql`${storable(row[column])}`))})`)
  yield sql`INSERT INTO ${plain(name)} (${plain(columns.join(', '))}) VALUES ${joined(lines)}`
}

const plain = (text: string): Query => ({ text, values: [] })

const joined = (parts: readonly Query[]): Query => ({
  text: parts.map(({ text }) => text).join(', '),
  values: parts.flatMap(({ values }) => values),
})

/** SQLite gives bytes as a buffer without a view. */
const storable = (value: unknown): Value =>
  value instanceof ArrayBuffer ? Buffer.from(value) : (value as Value)

const shown = (value: unknown): unknown =>
  value instanceof ArrayBuffer || value instanceof Uint8Array
    ? { bytes: Buffer.from(value as Uint8Array).toString('hex') }
    : value
