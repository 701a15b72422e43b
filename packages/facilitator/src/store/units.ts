/**
 * Base units in columns, the same for both engines. An amount has up to 75 digits (2^248). It is text of exactly 75 digits,
 * which sorts as the number does. It is added up in parts of 12 digits, because sums of SQLite are exact only below 2^63.
 */
import { SvcError } from '@svc-zerc20/protocol'
import type { Query, Row } from './sql.js'

const digits = 75
const partDigits = 12
const parts = Math.ceil(digits / partDigits)

export function unitsColumn(amount: bigint): string {
  const text = amount.toString()
  if (amount < 0n || text.length > digits) throw new SvcError('invariant', `${amount} is no amount`)
  return text.padStart(digits, '0')
}

/** The columns `<name>0` … that add up `column` exactly over at most 2^23 rows; read them with `sumIn`. */
export function sumColumns(column: string, name: string): Query {
  const sums: string[] = []
  for (let part = 0; part < parts; part++) {
    const end = digits - part * partDigits
    const start = Math.max(1, end - partDigits + 1)
    sums.push(
      `COALESCE(SUM(CAST(substr(${column}, ${start}, ${end - start + 1}) AS BIGINT)), 0) AS ${name}${part}`,
    )
  }
  return { text: sums.join(', '), values: [] }
}

export function sumIn(row: Row | undefined, name: string): bigint {
  let sum = 0n
  for (let part = parts - 1; part >= 0; part--) {
    sum = sum * 10n ** BigInt(partDigits) + BigInt(row?.[`${name}${part}`] ?? 0)
  }
  return sum
}
