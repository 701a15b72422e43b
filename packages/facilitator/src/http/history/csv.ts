/**
 * The history as CSV (RFC 4180), for people who open it in a spreadsheet. A cell that a spreadsheet could take for a formula
 * gets an apostrophe. Amounts are whole numbers of base units, with all their digits.
 */
import type { ParticipantRole } from '../../config/secrets/history.js'
import type { SeenPayment } from '../../history/scopes.js'
import { type Cell, columns } from './view.js'

/** One payment is one row. `network` and `token` are the same in all rows, so that files can be put together. */
export function csvOf(role: ParticipantRole, { network, token }: { network: string; token: string }) {
  const own = columns.filter(({ only }) => only === undefined || only === role)
  return {
    header: lineOf(['network', 'token', ...own.map(({ name }) => name)]),
    row: (payment: SeenPayment) => lineOf([network, token, ...own.map(({ cell }) => cell(payment))]),
  }
}

export const lineOf = (cells: readonly Cell[]): string => `${cells.map(quoted).join(',')}\r\n`

function quoted(cell: Cell): string {
  if (cell === undefined) return ''
  const text = /^[=+\-@\t\r\n]/.test(`${cell}`) ? `'${cell}` : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
