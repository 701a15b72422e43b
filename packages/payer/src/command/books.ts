/**
 * `history`, `limits` and `status`: past decisions, what is left of the limits, and the course of one
 * payment.
 */
import { type ChallengeNonce, csvLine, parseUrl, SvcError, textTable } from '@svc-zerc20/protocol'
import { readWhole } from '../delivery/bounded-body.js'
import type { AssembledPayer } from '../payer/assemble-payer.js'
import { inTokensOf, limitsResult, type PaymentStatus, statusResult } from '../payer/results.js'
import { exitCodes } from '../payer-error.js'
import { printable } from '../printable.js'
import type { AuditRecord } from '../state/audit-log.js'
import type { Report } from './output.js'

const columns = [
  'at',
  'state',
  'amount',
  'tokens',
  'token',
  'host',
  'route',
  'way',
  'challengeNonce',
  'transaction',
  'why',
] as const

/** One purchase in the log: its facts, and its last event. */
type LabelledRow = Readonly<Record<(typeof columns)[number], string>>
type HistoryRow = Omit<LabelledRow, 'tokens'>

/** Longest text of a cell. Some of the log is in a seller's words, and somebody may have changed it. */
const cellCharsMax = 2_048
const shown = ['at', 'state', 'amount', 'route', 'transaction', 'why'] as const

export async function history(
  payer: AssembledPayer,
  { csv, last }: { csv: boolean; last: number },
): Promise<Report> {
  const { records, unreadable } = await payer.state.audit.read()
  const rows = await Promise.all(
    rowsOf(records)
      .slice(-last)
      .map(async (row) => {
        const amount = /^\d+$/.test(row.amount) ? BigInt(row.amount) : undefined
        const label = await inTokensOf(payer, row.token, { amount })
        return { ...row, tokens: label?.amount ?? '' }
      }),
  )
  const heads = csv ? columns : shown
  const lines = [
    heads,
    ...rows.map((row) => heads.map((column) => printable(cellOf(row, column, csv), cellCharsMax))),
  ]
  const text = csv ? lines.map(csvLine).join('') : textTable(lines)
  const note = unreadable > 0 && !csv ? `${unreadable} lines of the log cannot be read\n` : ''
  return {
    exitCode: exitCodes.ok,
    result: { payments: rows, unreadable },
    text: rows.length === 0 && !csv ? `nothing was bought or refused yet\n${note}` : text + note,
  }
}

/** A person reads an amount in tokens beside the base units; a spreadsheet has a column for each. */
const cellOf = (row: LabelledRow, column: keyof LabelledRow, csv: boolean) =>
  column === 'amount' && !csv ? withLabel(row.amount, row.tokens) : row[column]

function rowsOf(records: readonly AuditRecord[]): HistoryRow[] {
  const rows = new Map<string, HistoryRow>()
  for (const [place, record] of records.entries()) {
    const key = textOf(record.challengeNonce) || `${place}`
    const before = rows.get(key)
    const [network = '', token = ''] = textOf(record.pair).split('/')
    rows.set(key, {
      at: before?.at ?? record.at,
      state: record.event,
      amount: before?.amount || textOf(record.amount),
      token: before?.token || (token && `${network}/${token}`),
      host: before?.host || textOf(record.host) || textOf(record.asked),
      route: before?.route || textOf(record.route) || textOf(record.asked),
      way: before?.way || textOf(record.way),
      challengeNonce: textOf(record.challengeNonce),
      transaction: textOf(record.transaction) || before?.transaction || '',
      why: whyOf(record) || before?.why || '',
    })
  }
  return [...rows.values()]
}

const whyOf = ({ rule, asked, limit, why }: AuditRecord) =>
  rule ? `rule ${textOf(rule)}: asked ${textOf(asked)}, allowed ${textOf(limit)}` : textOf(why)

const textOf = (value: unknown) => (value === undefined || value === null ? '' : String(value))

export async function limits(payer: AssembledPayer): Promise<Report> {
  const result = await limitsResult(payer)
  const { policy, tokens = {}, used } = result
  const labels: Readonly<Record<string, string | undefined>> = {
    'per payment': tokens.maxAmountPerPayment,
    total: tokens.maxTotal,
    'per host': tokens.maxPerHost,
    'per day': tokens.maxPerDay,
    'approval above': tokens.approveAbove,
  }
  const rules = Object.entries(policy).map(([name, value]) => [name, withLabel(value, labels[name])])
  const head = ['network/token', 'spent', 'reserved', 'last 24 h', 'left']
  const body = used.map(({ pair, tokens: amounts = {}, ...units }) => [
    pair,
    ...(['spent', 'reserved', 'lastDay', 'left'] as const).map((name) =>
      withLabel(units[name], amounts[name]),
    ),
  ])
  const hosts = used.flatMap(({ hosts = {} }) => Object.entries(hosts))
  const atHosts = hosts.length === 0 ? '' : `\n${textTable([['host', 'left'], ...hosts])}`
  const none = 'nothing was spent yet, and no token is pinned\n'
  const books = used.length === 0 ? none : textTable([head, ...body])
  return { exitCode: exitCodes.ok, result, text: `${textTable(rules)}\n${books}${atHosts}` }
}

/** Base units, and beside them what they are in tokens, where that is known. */
const withLabel = (units: string, label: string | undefined) => (label ? `${units} (${label})` : units)

/**
 * One payment, from the payer's store and the chain. A facilitator is asked only if it is named: it learns
 * who asks.
 */
export async function status(
  payer: AssembledPayer,
  nonce: ChallengeNonce,
  facilitator: string | undefined,
): Promise<Report> {
  const asked = facilitator === undefined ? undefined : await askFacilitator(payer, nonce, facilitator)
  const known = await statusResult(payer, nonce).catch((error) => {
    if (asked === undefined) throw error
    return { challengeNonce: nonce, events: [] }
  })
  const result: PaymentStatus & { facilitator: unknown } = { ...known, facilitator: asked }
  const { request, delivery, transaction, reservation, events } = result
  const last = events.at(-1)
  const rows: [string, string][] = [
    ['challenge', nonce],
    ['request', request ?? textOf(events.map(({ route }) => route).find(Boolean))],
    ['delivery', delivery ?? 'no longer remembered'],
    ['last event', last ? `${last.event} at ${last.at}` : 'none'],
    ['transaction', textOf(transaction) || 'none known'],
    [
      'money',
      reservation ? `${reservation.amount} reserved; the chain says ${reservation.burn}` : 'nothing reserved',
    ],
    ...(asked === undefined
      ? []
      : [['facilitator', printable(JSON.stringify(asked), facilitatorBytesMax)] as [string, string]]),
  ]
  return { exitCode: exitCodes.ok, result, text: textTable(rows) }
}

const facilitatorBytesMax = 65_536

async function askFacilitator(payer: AssembledPayer, nonce: ChallengeNonce, url: string): Promise<unknown> {
  if (!parseUrl(url)) throw new SvcError('payer_misconfigured', '--facilitator expects a URL')
  const address = new URL(`${url.replace(/\/$/, '')}/payments/${nonce}`).href
  await payer.scheme.guard.checkUrl(address)
  const { clock, limits } = payer.scheme
  const waitMs = limits.answerMsMax
  const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(waitMs) })
  const bounds = { bytesMax: facilitatorBytesMax, idleMsMax: waitMs, totalMsMax: waitMs }
  const text = await (await readWhole(response, bounds, clock)).text()
  try {
    return { status: response.status, ...(JSON.parse(text) as object) }
  } catch {
    return { status: response.status }
  }
}
