/**
 * Plain SQL for both engines. A step or a question is a generator: it yields queries and gets their rows. SQLite runs it
 * in one go, PostgreSQL with a round trip for each query, and no rule is written twice.
 */

export type Value = string | number | Uint8Array | null
export type Query = { readonly text: string; readonly values: readonly Value[] }
/** The values of a row by the names of its columns. */
// biome-ignore lint/suspicious/noExplicitAny: the column types are said where a query is written.
export type Row = Readonly<Record<string, any>>
export type Step<T> = Generator<Query, T, readonly Row[]>

/** A query with a place for each value. A query inside another one is put in whole. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Value | Query)[]): Query {
  let text = strings[0] ?? ''
  const values: Value[] = []
  parts.forEach((part, i) => {
    if (isQuery(part)) {
      text += part.text
      values.push(...part.values)
    } else {
      text += '?'
      values.push(part)
    }
    text += strings[i + 1] ?? ''
  })
  return { text, values }
}

const isQuery = (part: Value | Query): part is Query =>
  typeof part === 'object' && part !== null && 'text' in part

/** Conditions, all of which must hold. */
export function allOf(conditions: readonly (Query | false | undefined)[]): Query {
  const given = conditions.filter((each): each is Query => Boolean(each))
  if (given.length === 0) return { text: '1 = 1', values: [] }
  return {
    text: given.map(({ text }) => `(${text})`).join(' AND '),
    values: given.flatMap(({ values }) => values),
  }
}

/** A place for each value; a `list` has them in brackets. */
export const places = (values: readonly Value[]): Query => ({
  text: values.map(() => '?').join(', '),
  values,
})
export const list = (values: readonly Value[]): Query => sql`(${places(values)})`

/** The time of a PostgreSQL server, in milliseconds: daemons have their own clocks. */
export const serverNow: Query = sql`CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`

/** The first row, if there is one. */
export function* first(query: Query): Step<Row | undefined> {
  const [row] = yield query
  return row
}

export function gathered<K>(rows: readonly Row[], by: (row: Row) => K): ReadonlyMap<K, readonly Row[]> {
  const groups = new Map<K, Row[]>()
  for (const row of rows) {
    const group = groups.get(by(row))
    if (group) group.push(row)
    else groups.set(by(row), [row])
  }
  return groups
}

/** Hex text as bytes, for a column of keys. */
export const key = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
export const optionalKey = (hex: string | undefined): Buffer | null => (hex === undefined ? null : key(hex))
export const hexOf = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`
