/**
 * The history as CSV (RFC 4180), for people who open it in a spreadsheet. A cell that a spreadsheet could take for a formula
 * gets an apostrophe. Amounts are whole numbers of base units, with all their digits.
 */
import { toChecksum, type UnixSeconds } from '@svc-zerc20/protocol'
import type { ParticipantRole } from '../../config/secrets/history.js'
import type { SeenPayment } from '../../history/scopes.js'
import { checksummed } from './checksum.js'

export type Cell = string | bigint | number | undefined

type Column = {
  readonly name: string
  /** Absent: for both. */
  readonly only?: ParticipantRole
  cell(payment: SeenPayment): Cell
}

const columns: readonly Column[] = [
  { name: 'challenge_nonce', cell: (seen) => seen.challengeNonce },
  { name: 'phase', cell: (seen) => seen.phase },
  { name: 'amount', cell: (seen) => seen.amount },
  { name: 'list_price', cell: (seen) => seen.listPrice },
  { name: 'fee', cell: (seen) => seen.fee?.amount },
  { name: 'fee_charged_to', cell: (seen) => seen.fee?.chargeTo },
  { name: 'issued_at', cell: (seen) => inTime(seen.issuedAt) },
  { name: 'expires_at', cell: (seen) => inTime(seen.expiresAt) },
  { name: 'accepted_at', cell: (seen) => inTime(seen.accepted?.at) },
  { name: 'accepted_value', cell: (seen) => seen.accepted?.value },
  { name: 'finalized_on', cell: (seen) => seen.finalized?.on },
  { name: 'late_at', cell: (seen) => inTime(seen.late?.at) },
  { name: 'late_value', cell: (seen) => seen.late?.value },
  { name: 'late_reason', cell: (seen) => seen.late?.reason },
  { name: 'late_finalized_on', cell: (seen) => seen.late?.finalized?.on },
  { name: 'payer', cell: (seen) => seen.payer && checksummed(seen.payer) },
  { name: 'pay_to', cell: (seen) => seen.payTo && toChecksum(seen.payTo) },
  { name: 'burn_transaction', cell: (seen) => seen.accepted?.burn?.txHash },
  { name: 'burn_block', cell: (seen) => seen.accepted?.burn?.blockNumber },
  { name: 'burn_leaf', cell: (seen) => seen.accepted?.burn?.leafIndex },
  { name: 'late_burn_transaction', cell: (seen) => seen.late?.burn?.txHash },
  { name: 'late_burn_block', cell: (seen) => seen.late?.burn?.blockNumber },
  { name: 'late_burn_leaf', cell: (seen) => seen.late?.burn?.leafIndex },
  { name: 'disclosed_at', cell: (seen) => inTime(seen.disclosedAt) },
  { name: 'treasury', only: 'provider', cell: (seen) => seen.treasury && checksummed(seen.treasury) },
  { name: 'finalized_at', only: 'provider', cell: (seen) => inTime(seen.finalized?.at) },
  { name: 'mint_transaction', only: 'provider', cell: (seen) => seen.finalized?.mint?.txHash },
  { name: 'mint_block', only: 'provider', cell: (seen) => seen.finalized?.mint?.blockNumber },
  { name: 'mint_value', only: 'provider', cell: (seen) => seen.finalized?.mint?.value },
  { name: 'late_finalized_at', only: 'provider', cell: (seen) => inTime(seen.late?.finalized?.at) },
  { name: 'late_mint_transaction', only: 'provider', cell: (seen) => seen.late?.finalized?.mint?.txHash },
  { name: 'late_mint_block', only: 'provider', cell: (seen) => seen.late?.finalized?.mint?.blockNumber },
  { name: 'late_mint_value', only: 'provider', cell: (seen) => seen.late?.finalized?.mint?.value },
]

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

/** `YYYY-MM-DDTHH:MM:SSZ`, which spreadsheets and people can read. */
const inTime = (at: UnixSeconds | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at * 1000).toISOString().replace('.000', '')
