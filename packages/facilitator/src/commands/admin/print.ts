/** Answers of the administrative surface as tables for people. */
import { inTokens, type TokenLabel, textTable } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import type * as feeSchemas from '../../http/admin/fee-schemas.js'
import type * as schemas from '../../http/admin/schemas.js'

type Status = z.infer<typeof schemas.status>
type PaymentPage = z.infer<typeof schemas.paymentPage>
type Timeline = z.infer<typeof schemas.paymentTimeline>
type ChallengePage = z.infer<typeof schemas.challengePage>
type RelayerView = z.infer<typeof schemas.relayerView>
type OddBurns = z.infer<typeof schemas.oddBurns>
type Fees = z.infer<typeof feeSchemas.fees>
type SweepAnswer = z.infer<typeof feeSchemas.sweepAnswer>

const time = (seconds: number | undefined) =>
  seconds === undefined ? '-' : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** In tokens, beside base units. */
function money(baseUnits: string | number, token: TokenLabel | undefined): string {
  const tokens = token && inTokens(BigInt(baseUnits), token)
  return `${baseUnits} base units${tokens === undefined ? '' : ` (${tokens})`}`
}

const chainMoney: TokenLabel = { symbol: 'ETH', decimals: 18 }

const gasMoney = (wei: string | undefined): string =>
  (wei !== undefined && inTokens(BigInt(wei), chainMoney)) || 'unknown gas money'

export function printStatus(status: Status): string {
  const { payments, mints, chain, challenges, addresses, relayer, journal } = status
  const ready = status.ready ? 'yes' : status.problems.map(({ problem }) => problem).join('; ')
  const accepting = status.acceptsPayments ? 'accepting payments' : 'gated'
  return textTable([
    ['version', status.version],
    ['network', status.network],
    ['profile', `${status.profile} (${accepting})`],
    ['ledger', status.ledgerId ?? 'unknown'],
    ['started', time(status.startedAt)],
    ['ready', ready],
    ['issuance', status.issuance],
    ['challenges', `${challenges.open} open of ${challenges.max}`],
    [
      'payments',
      `${payments.claimed} under way, ${payments.accepted} accepted, ${payments.finalized} finalized`,
    ],
    ['owed', describeOwed(mints, status.token)],
    ['waiting', describeReasons(mints)],
    ['fees', describeFees(status.fees, status.token)],
    ['odd burns', describeOdd(payments)],
    ['addresses', `${addresses.ready} ready of ${addresses.target}`],
    ['chain', describeChain(chain)],
    ['relayer', describeAccount(relayer)],
    ...(status.minter ? [['minter', describeAccount(status.minter)]] : []),
    ['gas', describeSpent(relayer.spent)],
    ['journal', journal ? describeJournal(journal) : 'none'],
    ['history', describeHistory(status.history)],
  ])
}

function describeOdd({ late, unmatched, demoted = 0 }: Status['payments']): string {
  const taken = demoted === 0 ? '' : `, ${demoted} TAKEN BY A REORG after they were accepted`
  return `${late} late, ${unmatched} unmatched${taken}`
}

const describeAccount = ({ address, balance, pending }: NonNullable<Status['minter']>): string =>
  `${address}, ${gasMoney(balance)}, ${pending} pending`

function describeOwed({ awaiting, owed, oldestSeconds }: Status['mints'], token: Status['token']): string {
  if (awaiting === 0) return 'nothing'
  return `${money(owed, token)} in ${awaiting} payments, the oldest for ${oldestSeconds ?? 0} s`
}

function describeFees(fees: Status['fees'], token: Status['token']): string {
  if (!fees) return 'unknown'
  const { due, underWay, swept, lastError } = fees
  const failed = lastError ? `, last error: ${lastError.message}` : ''
  const [waiting, going, gone] = [due.amount, underWay?.amount ?? 0, swept.amount].map((each) =>
    money(each, token),
  )
  return `${waiting} due, ${going} under way, ${gone} swept${failed}`
}

function describeReasons({ reasons, off, decider, nextBatches = [] }: Status['mints']): string {
  const list = Object.entries(reasons).map(([reason, payments]) => `${payments} ${reason}`)
  const batches = nextBatches.map(
    (batch) => `next batch ${batch.payments} of ${batch.of}, at the latest ${time(batch.latestAt)}`,
  )
  const heard = decider?.heardAt === undefined ? 'NO ANSWER yet' : `last answer ${time(decider.heardAt)}`
  const asked = decider ? [`the decider proves since ${time(decider.since)}, ${heard}`] : []
  const why = off === undefined ? [] : [`off: ${off}`]
  return [...(list.length === 0 ? ['none'] : list), ...asked, ...batches, ...why].join(', ')
}

function describeChain({ reachable, head, roundTripMs, clockSkewSeconds }: Status['chain']): string {
  if (!reachable) return 'out of reach'
  const skew = clockSkewSeconds === undefined ? 'unknown' : `${clockSkewSeconds} s`
  return `block ${head}, answered in ${roundTripMs} ms, clock skew ${skew}`
}

const describeSpent = ({ burn, mint }: RelayerView['spent']): string =>
  `${gasMoney(burn.wei)} for ${burn.transactions} burn transactions, ${gasMoney(mint.wei)} for ${mint.transactions} mints`

const describeHistory = (history: Status['history']): string =>
  history
    ? `${history.bytes} bytes, ${history.records} records${history.failed ? ', last write FAILED' : ''}`
    : 'none'

function describeJournal(journal: NonNullable<Status['journal']>): string {
  const { records, syncs, bytes, failed, freeBytes } = journal
  const free = freeBytes === undefined ? '' : `, ${freeBytes} bytes free`
  return `${bytes} bytes, ${records} records in ${syncs} syncs${free}${failed ? ', last write FAILED' : ''}`
}

export function printRelayer({ address, balance, pending, spent, queue, minter }: RelayerView): string {
  const facts = textTable([
    ['address', address],
    ['balance', gasMoney(balance)],
    ['gas', describeSpent(spent)],
    ['pending', `${pending}`],
    ...(minter ? [['minter', describeAccount(minter)]] : []),
  ])
  const all = [...queue, ...(minter?.queue ?? [])]
  if (all.length === 0) return facts
  const rows = all.map(({ nonce, purpose, signedAt, forms, unfunded, txHash }) => [
    `${nonce}`,
    purpose,
    time(signedAt),
    `${forms}`,
    unfunded ? 'no money' : '',
    txHash,
  ])
  return `${facts}\n${textTable([['nonce', 'for', 'signed', 'forms', '', 'transaction'], ...rows])}`
}

const moreAfter = (next: string | undefined): string => (next === undefined ? '' : `more: --after ${next}\n`)

export function printChallenges({ open, max, issuance, challenges, next }: ChallengePage): string {
  const rows = challenges.map(({ issuedAt, expiresAt, amount, claimed, challengeNonce }) => [
    time(issuedAt),
    time(expiresAt),
    amount,
    claimed ? 'under way' : 'open',
    challengeNonce,
  ])
  const head = `${open} open of ${max}, issuance ${issuance}\n`
  if (rows.length === 0) return head
  return `${head}\n${textTable([['issued', 'expires', 'amount', '', 'challenge nonce'], ...rows])}${moreAfter(next)}`
}

export function printPayments({ payments, next }: PaymentPage): string {
  const rows = payments.map((payment) => [
    time(payment.issuedAt),
    payment.phase,
    payment.waiting?.reason ?? '-',
    payment.amount,
    payment.fee?.amount ?? '-',
    payment.challengeNonce,
    payment.transaction ?? '-',
  ])
  if (rows.length === 0) return 'no payments\n'
  return `${textTable([['issued', 'phase', 'mint waits', 'amount', 'fee', 'challenge nonce', 'burn'], ...rows])}${moreAfter(next)}`
}

export function printTimeline({ payment, timeline }: Timeline): string {
  const facts = Object.entries(payment).map(([key, value]) => [
    key,
    /At$/.test(key) ? time(Number(value)) : textOf(value),
  ])
  const turns = timeline.map(({ at, event, txHash, reason, company }) => [
    time(at),
    event,
    txHash ?? reason ?? (company === undefined ? '' : `one of ${company} burns of this amount`),
  ])
  return `${textTable(facts)}\n${textTable([['time', 'event', ''], ...turns])}`
}

const textOf = (value: unknown): string =>
  typeof value === 'object' && value
    ? Object.entries(value)
        .map(([key, inner]) => `${key} ${inner}`)
        .join(', ')
    : String(value)

export function printOddBurns({ late, unmatched, stuck = [], demoted = [], next }: OddBurns): string {
  const lateRows = late.map((payment) => [
    payment.late?.reason ?? 'late',
    time(payment.expiresAt),
    payment.challengeNonce,
    payment.late?.transaction ?? '-',
    payment.late?.value ?? '-',
  ])
  const unmatchedRows = unmatched.map(({ at, challengeNonce, txHash, reason }) => [
    'unmatched',
    time(at),
    challengeNonce,
    txHash,
    reason,
  ])
  const stuckRows = stuck.map(({ challengeNonce, transfers, stuck: value }) => [
    'stuck',
    time(transfers.at(-1)?.at),
    challengeNonce,
    transfers.at(-1)?.transaction ?? '-',
    `${value} of ${transfers.length} transfers`,
  ])
  const demotedRows = demoted.map(
    ({ acceptedAt, issuedAt, challengeNonce, transaction, amount, granted }) => [
      granted ? 'reorged, served' : 'reorged',
      time(acceptedAt ?? issuedAt),
      challengeNonce,
      transaction ?? '-',
      amount,
    ],
  )
  const rows = [...demotedRows, ...lateRows, ...unmatchedRows, ...stuckRows]
  if (rows.length === 0) return 'no late or unmatched burns\n'
  return `${textTable([['kind', 'expired or seen', 'challenge nonce', 'burn', 'value or reason'], ...rows])}${moreAfter(next)}`
}

export function printFees(fees: Fees): string {
  const { due, elsewhere, underWay, swept, lastError, splitter, token } = fees
  const describeSum = (sum: { readonly payments: number; readonly amount: string }) =>
    `${money(sum.amount, token)} of ${sum.payments} payments`
  const last = swept.last ? `, last ${swept.last.amount} at ${time(swept.last.at)}` : ''
  return textTable([
    ['mode', fees.mode],
    [
      'treasury',
      fees.treasuryWei === undefined ? fees.treasury : `${fees.treasury}, ${gasMoney(fees.treasuryWei)}`,
    ],
    ...(fees.earned === undefined ? [] : [['earned', money(fees.earned, token)]]),
    ['due', describeSum(due)],
    ...(elsewhere ? [['elsewhere', `${describeSum(elsewhere)}, minted to another account`]] : []),
    [
      'under way',
      underWay ? `${describeSum(underWay)} in ${underWay.transaction ?? 'no transaction yet'}` : 'nothing',
    ],
    ['swept', `${describeSum(swept)} by ${swept.sweeps} sweeps${last}`],
    ['every', `${fees.sweepIntervalSeconds} s, at least ${money(fees.sweepMin, token)}`],
    ...(lastError ? [['last error', `${time(lastError.at)} ${lastError.message}`]] : []),
    ...(splitter ? [['splitter', describeSplitter(splitter)]] : []),
  ])
}

function describeSplitter({ address, undistributed, lastError }: NonNullable<Fees['splitter']>): string {
  const failed = lastError ? `, last error at ${time(lastError.at)}: ${lastError.message}` : ''
  return `${address}, ${undistributed ?? 'unknown'} base units to distribute${failed}`
}

export function printSweep({
  sweep,
  amount,
  payments,
  recipient,
  transaction,
  message,
}: SweepAnswer): string {
  const money = `${amount ?? '?'} base units of ${payments ?? '?'} payments to ${recipient ?? '?'}`
  const words: Readonly<Record<SweepAnswer['sweep'], string>> = {
    planned: `would sweep ${money}`,
    sent: `sweeps ${money} in ${transaction ?? '?'}`,
    under_way: `a sweep is under way: ${money} in ${transaction ?? 'no transaction yet'}`,
    nothing_due: 'no fee is due',
    too_little: 'the fees that are due are below fee.sweep_min',
    too_young:
      'the treasury sent money to the recipient a moment ago; try again when that is deep on the chain',
    failed: `nothing was swept: ${message ?? 'the daemon does not say why'}`,
  }
  return `${words[sweep]}\n`
}
