/** The bodies and queries of the history surface, named as in the OpenAPI document. The queries are read with these schemas. */
import * as z from 'zod'
import { participantRoles } from '../../config/secrets/history.js'
import { recordKinds } from '../../history/payment.js'
import {
  address,
  baseUnits,
  count,
  named,
  network,
  pageSize,
  seconds,
  secondsInQuery,
  tokenLabel,
  unitsInQuery,
} from '../schema-parts.js'
import { day, historyPayment, phase } from './view.js'

/** Type of a signed text in its compact form (JWS). */
export const signedText = 'application/jose'

const role = z.enum(participantRoles)

export const historyPaymentTurns = named(
  'HistoryPaymentTurns',
  'One payment and its turns, in order. For payers `finalized` has a day and is shown behind the other turns of that day.',
  z.looseObject({
    payment: historyPayment,
    turns: z.array(z.looseObject({ kind: z.enum(recordKinds), at: seconds.optional(), on: day.optional() })),
  }),
)

/** An opaque cursor. */
const cursor = z.string().regex(/^[\w.~:-]{1,256}$/)

export const historyPage = named(
  'HistoryPage',
  'Payments, newest first. `next` is there when more follow: hand it back as `cursor`. A page may be short, and ' +
    'even empty, while more follow, because the work for one page is bounded.',
  z.looseObject({ payments: z.array(historyPayment), next: cursor.optional() }),
)

export const historyExport = named(
  'HistoryExport',
  'Everything the participant may see, as it was at one moment, oldest first.',
  z.looseObject({ network, token: address, exportedAt: seconds, payments: z.array(historyPayment) }),
)

const sum = z.looseObject({ payments: count, amount: baseUnits })

export const historyTotals = named(
  'HistoryTotals',
  'Sums over a period, by the time of the burns.',
  z.looseObject({
    network,
    token: address,
    since: seconds,
    until: seconds,
    accepted: sum.describe('burns that bought something'),
    late: sum.describe('burns that bought nothing; beside an accepted burn only the difference'),
    fees: sum.optional().describe('fees of the accepted burns, part of them; providers only'),
    finalized: sum.optional().describe('mints of both; providers only'),
  }),
)

export const whoami = named(
  'Participant',
  'Who the token stands for, and which payments it shows.',
  z.looseObject({
    role,
    tenant: z.string(),
    actor: z.string(),
    expiresAt: seconds.describe('the end of the token'),
    sees: z
      .enum(['treasury', 'address', 'nonce'])
      .describe('the payments of a treasury, those of an address, or those whose nonce is presented'),
    address: address.optional().describe('the payer’s'),
    treasury: address.optional().describe('the provider’s'),
    network,
    token: address,
    tokenLabel: tokenLabel.optional(),
    statements: z.boolean().describe('statements are issued here'),
  }),
)

const period = {
  since: secondsInQuery.optional().describe('from this second on, unix seconds'),
  until: secondsInQuery.optional().describe('before this second, unix seconds'),
}

const filter = {
  ...period,
  phase: phase.optional().describe('only payments in this phase'),
  minAmount: unitsInQuery.optional().describe('at least this much, base units'),
  maxAmount: unitsInQuery.optional().describe('at most this much, base units'),
}

/** Ranges that cannot hold anything are refused, not answered with nothing. */
function checkRanges({
  value,
  issues,
}: z.core.ParsePayload<{
  since?: number | undefined
  until?: number | undefined
  minAmount?: bigint | undefined
  maxAmount?: bigint | undefined
}>): void {
  const { since, until, minAmount, maxAmount } = value
  const refuse = (key: string, message: string) =>
    issues.push({ code: 'custom', path: [key], message, input: value })
  if (since !== undefined && until !== undefined && since >= until) {
    refuse('until', 'has to be later than since')
  }
  if (minAmount !== undefined && maxAmount !== undefined && minAmount > maxAmount) {
    refuse('maxAmount', 'is below minAmount')
  }
}

export const pageQuery = z
  .object({
    ...filter,
    cursor: cursor.optional().describe('`next` of the page before'),
    limit: pageSize,
  })
  .check(checkRanges)

export const exportQuery = z
  .object({
    ...filter,
    format: z.enum(['json', 'csv']).optional().describe('`json` unless told'),
  })
  .check(checkRanges)

export const totalsQuery = z.object(period).check(checkRanges)

export const loginChallengeRequest = named(
  'LoginChallengeRequest',
  'The address of the wallet that wants to come in.',
  z.looseObject({ address }),
)

export const loginChallenge = named(
  'LoginChallenge',
  'A message (EIP-4361) for the wallet to sign, unchanged. Every address gets one.',
  z.looseObject({ message: z.string(), expiresAt: seconds }),
)

export const loginRequest = named(
  'LoginRequest',
  'The message, and the wallet’s signature of it (EIP-191; ERC-1271 for contract wallets).',
  z.looseObject({
    message: z.string(),
    signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2})+$/),
  }),
)

export const login = named(
  'Login',
  'An identity token for `Authorization: Bearer`.',
  z.looseObject({ token: z.string(), role, expiresAt: seconds }),
)

const forWhom = {
  audience: z.string().describe('who will check the statement, such as `https://auditor.example`'),
  nonce: z.string().optional().describe('a word of the verifier, which then is in the statement'),
}

export const statementRequest = named(
  'StatementRequest',
  'For whom a statement is made. Each name: 1 to 256 printable characters without spaces.',
  z.looseObject(forWhom),
)

export const totalStatementRequest = named(
  'TotalStatementRequest',
  'The period, which has to be over, and for whom the statement is made.',
  z.looseObject({ since: seconds, until: seconds, ...forWhom }).check(checkRanges),
)

export const signedStatement = named(
  'SignedStatement',
  'A statement file: kept as it is, it can be checked offline with the trust anchor alone.',
  z.looseObject({
    format: z.string(),
    statement: z
      .string()
      .describe('SD-JWT VC with all its disclosures; leave out those that the verifier need not see'),
    manifest: z.string().describe('keys of the issuer, signed by its trust anchor'),
    revocations: z.string().describe('revoked statements, signed by the issuer'),
    jti: z.string().describe('names the statement, for its revocation'),
    expiresAt: seconds,
  }),
)
