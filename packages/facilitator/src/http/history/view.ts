/**
 * A payment that a participant may see, in all its forms: the schema of its JSON, the JSON, and the columns of the CSV.
 * Nothing is hidden here: that was done before, in `history/scopes.ts`.
 */
import { type CsvCell, csvLine, toChecksum, type UnixSeconds } from '@svc-zerc20/protocol'
import * as z from 'zod'
import type { ParticipantRole } from '../../config/secrets/history.js'
import { historyPhases } from '../../history/payment.js'
import type { SeenBurn, SeenMint, SeenPayment } from '../../history/scopes.js'
import { lateReasons } from '../../payment/records.js'
import { address, baseUnits, count, mint, named, nonce, seconds, txHash, viewMint } from '../schema-parts.js'

export const day = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/)
export const phase = named(
  'HistoryPhase',
  'Where a payment stands, as far as the participant may know. `challenged`: issued and not paid, expired once ' +
    '`expiresAt` is past. `late`: only a burn that bought nothing. A payer is told `finalized` no earlier than when the day behind the burn is over.',
  z.enum(historyPhases),
)

const place = named(
  'BurnPlace',
  'Where on the chain the burn is. It names the payer.',
  z.looseObject({ transaction: txHash, block: baseUnits, leafIndex: baseUnits }),
)

const finality = {
  finalizedOn: day
    .optional()
    .describe(
      'the day of the mint in UTC; for payers the day by which it came, a day behind the burn or later, told once it is over',
    ),
  finalizedAt: seconds.optional().describe('its second; providers only'),
  mint: mint.optional().describe('the mint to the treasury; providers only'),
}

const burned = {
  value: baseUnits.describe('what was burned'),
  at: seconds,
  burn: place.optional().describe('for its payer, and for the provider once the payer disclosed it'),
}

const paymentFields = {
  challengeNonce: nonce,
  phase,
  amount: baseUnits.describe('what the challenge asked for'),
  listPrice: baseUnits,
  fee: z
    .looseObject({ amount: baseUnits, bps: count, chargeTo: z.enum(['payer', 'provider']) })
    .optional()
    .describe('part of the amount; payers see the fee that they bear'),
  issuedAt: seconds,
  expiresAt: seconds,
  payer: address.optional().describe('for the payer itself, and for the provider once it is disclosed'),
  payTo: address
    .optional()
    .describe('the burn address, which names the payer on the chain: shown like `payer`'),
  treasury: address.optional().describe('where the mint goes; providers only'),
  accepted: z.looseObject(burned).optional().describe('the burn that bought something'),
  ...finality,
  late: z
    .looseObject({ ...burned, reason: z.enum(lateReasons), ...finality })
    .optional()
    .describe('a burn that bought nothing; it is minted all the same'),
  unmatched: z
    .array(z.looseObject({ reason: z.string(), at: seconds }))
    .optional()
    .describe('transfers to the burn address that covered nothing'),
  disclosedAt: seconds.optional().describe('since then the provider sees payer and burn'),
}

export const historyPayment = named(
  'HistoryPayment',
  'A payment as far as the participant may see it. What is hidden is absent.',
  z.looseObject(paymentFields),
)

/** For `toJson`, which writes amounts as decimal strings and leaves out what is undefined. */
export function viewPayment(seen: SeenPayment) {
  const { payer, payTo, treasury, accepted, finalized, late, unmatched, ...rest } = seen
  return {
    ...rest,
    payer: payer && toChecksum(payer),
    payTo: payTo && toChecksum(payTo),
    treasury: treasury && toChecksum(treasury),
    accepted: accepted && viewBurn(accepted),
    ...viewFinality(finalized),
    late: late && { ...viewBurn(late), reason: late.reason, ...viewFinality(late.finalized) },
    unmatched: unmatched.length > 0 ? unmatched : undefined,
  }
}

const viewBurn = ({ at, value, burn }: SeenBurn) => ({
  at,
  value,
  burn: burn && { transaction: burn.txHash, block: burn.blockNumber, leafIndex: burn.leafIndex },
})

const viewFinality = (seen: SeenMint | undefined) => ({
  finalizedOn: seen?.on,
  finalizedAt: seen?.at,
  mint: seen?.mint && viewMint(seen.mint),
})

type Column = {
  readonly name: string
  /** Absent: for both. */
  readonly only?: ParticipantRole
  cell(payment: SeenPayment): CsvCell
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
  { name: 'payer', cell: (seen) => seen.payer && toChecksum(seen.payer) },
  { name: 'pay_to', cell: (seen) => seen.payTo && toChecksum(seen.payTo) },
  { name: 'burn_transaction', cell: (seen) => seen.accepted?.burn?.txHash },
  { name: 'burn_block', cell: (seen) => seen.accepted?.burn?.blockNumber },
  { name: 'burn_leaf', cell: (seen) => seen.accepted?.burn?.leafIndex },
  { name: 'late_burn_transaction', cell: (seen) => seen.late?.burn?.txHash },
  { name: 'late_burn_block', cell: (seen) => seen.late?.burn?.blockNumber },
  { name: 'late_burn_leaf', cell: (seen) => seen.late?.burn?.leafIndex },
  { name: 'disclosed_at', cell: (seen) => inTime(seen.disclosedAt) },
  { name: 'treasury', only: 'provider', cell: (seen) => seen.treasury && toChecksum(seen.treasury) },
  { name: 'finalized_at', only: 'provider', cell: (seen) => inTime(seen.finalized?.at) },
  { name: 'mint_transaction', only: 'provider', cell: (seen) => seen.finalized?.mint?.txHash },
  { name: 'mint_block', only: 'provider', cell: (seen) => seen.finalized?.mint?.blockNumber },
  { name: 'mint_value', only: 'provider', cell: (seen) => seen.finalized?.mint?.value },
  { name: 'late_finalized_at', only: 'provider', cell: (seen) => inTime(seen.late?.finalized?.at) },
  { name: 'late_mint_transaction', only: 'provider', cell: (seen) => seen.late?.finalized?.mint?.txHash },
  { name: 'late_mint_block', only: 'provider', cell: (seen) => seen.late?.finalized?.mint?.blockNumber },
  { name: 'late_mint_value', only: 'provider', cell: (seen) => seen.late?.finalized?.mint?.value },
]

/** `YYYY-MM-DDTHH:MM:SSZ`, which spreadsheets and people can read. */
const inTime = (at: UnixSeconds | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at * 1000).toISOString().replace('.000', '')

/** One payment is one row. `network` and `token` are the same in all rows, so that files can be put together. */
export function csvOf(role: ParticipantRole, { network, token }: { network: string; token: string }) {
  const own = columns.filter(({ only }) => only === undefined || only === role)
  return {
    header: csvLine(['network', 'token', ...own.map(({ name }) => name)]),
    row: (payment: SeenPayment) => csvLine([network, token, ...own.map(({ cell }) => cell(payment))]),
  }
}
