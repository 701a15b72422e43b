/** Compares the books with the chain. Pure: facts in, totals and differences out. */
import type * as z from 'zod'
import type * as schemas from '../../http/admin/schemas.js'

export type BookedPayment = z.infer<typeof schemas.paymentPage>['payments'][number]

/** The books, in the words of the administrative surface. */
export type AuditBooks = {
  readonly payments: readonly BookedPayment[]
  readonly odd: Pick<z.infer<typeof schemas.oddBurns>, 'unmatched' | 'stuck'>
  readonly fees: Pick<z.infer<typeof schemas.fees>, 'treasury' | 'due' | 'underWay' | 'swept'>
  /** The account that relays burns. */
  readonly relayer: string
}

type ChainTransaction = {
  readonly transaction: string
  readonly value: bigint
  /** Whether its block is in the period. */
  readonly isIn: boolean
  /** Younger payments may be on their way into the books. */
  readonly isYoung: boolean
}

export type AuditChain = {
  /** Balances of the burn addresses, by address as the books spell it. Nobody can take them away. */
  readonly balances: ReadonlyMap<string, bigint>
  /** Mints to the treasuries that the books name. */
  readonly mints: readonly ChainTransaction[]
  /** Burns that our relayer sent. */
  readonly relayed: readonly (ChainTransaction & { readonly challengeNonce: string })[]
  /** Transfers from treasuries to recipients of fees. */
  readonly swept: bigint
}

/** Unix seconds; a payment belongs to a period by the time of its challenge, a transaction by its block. */
export type Period = { readonly since: number; readonly until: number }

export type Difference = {
  readonly about: 'burned' | 'minted' | 'swept'
  readonly challengeNonce?: string
  readonly transaction?: string
  readonly message: string
}

type BooksAndChain = { readonly books: string; readonly chain: string }

export type AuditReport = {
  readonly period: Period
  readonly payments: number
  readonly burned: BooksAndChain
  readonly minted: BooksAndChain
  /** Since the first payment, whatever the period. */
  readonly swept: BooksAndChain
  /** Burned and not minted. */
  readonly owed: string
  readonly feesEarned: string
  readonly feesDue: string
  readonly stuck: string
  /** Accepted once, and without a burn since a reorg. */
  readonly reorged: string
  readonly differences: readonly Difference[]
}

export function compare(books: AuditBooks, chain: AuditChain, period: Period): AuditReport {
  const isIn = (at: number) => at >= period.since && at < period.until
  const payments = books.payments.filter(({ issuedAt }) => isIn(issuedAt))
  const isSure = (transaction: ChainTransaction) => transaction.isIn && !transaction.isYoung
  const mints = chain.mints.filter((mint) => mint.isIn)
  const sweptByBooks = BigInt(books.fees.swept.amount) + BigInt(books.fees.underWay?.amount ?? 0n)
  const open = payments.filter(isOwed)
  return {
    period,
    payments: payments.length,
    burned: {
      books: `${sum(payments, (payment) => burnsOf(payment, books).known)}`,
      chain: `${sum(payments, ({ payTo }) => chain.balances.get(payTo) ?? 0n)}`,
    },
    minted: {
      books: `${sum(payments.flatMap(mintsOf), ({ value }) => BigInt(value))}`,
      chain: `${sum(mints, ({ value }) => value)}`,
    },
    swept: { books: `${sweptByBooks}`, chain: `${chain.swept}` },
    owed: `${sum(open, (payment) => burnsOf(payment, books).owed)}`,
    feesEarned: `${sum(payments.filter(isEarned), ({ fee }) => BigInt(fee?.amount ?? 0n))}`,
    feesDue: `${books.fees.due.amount}`,
    stuck: `${sum(books.odd.stuck ?? [], ({ stuck }) => BigInt(stuck))}`,
    reorged: `${sum(
      payments.filter(({ demoted }) => demoted),
      ({ amount }) => BigInt(amount),
    )}`,
    differences: [
      ...payments.flatMap((payment) => differenceAt(payment, books, chain)),
      ...unknownBurns(books, chain.relayed.filter(isSure)),
      ...mintDifferences(books, payments, chain.mints),
      ...unknownMints(books, chain.mints.filter(isSure)),
      ...(sweptByBooks === chain.swept
        ? []
        : [difference('swept', `the books have ${sweptByBooks}, the treasury sent ${chain.swept}`)]),
    ],
  }
}

const sum = <T>(items: readonly T[], of: (item: T) => bigint): bigint =>
  items.reduce((total, item) => total + of(item), 0n)

const difference = (
  about: Difference['about'],
  message: string,
  named: Partial<Difference> = {},
): Difference => ({
  about,
  ...named,
  message,
})

const isOwed = ({ waiting }: BookedPayment): boolean => waiting !== undefined
const isEarned = ({ acceptedAt, mint }: BookedPayment): boolean =>
  acceptedAt !== undefined && mint !== undefined

/** The transfers to one address that the books know, each once. */
function burnsOf({ burn, late, challengeNonce, mint }: BookedPayment, { odd }: AuditBooks) {
  const stuck = odd.stuck?.find((address) => address.challengeNonce === challengeNonce)
  const transfers = [burn, late, ...(stuck?.transfers ?? [])].flatMap((transfer) => transfer ?? [])
  const byLeaf = new Map(
    transfers.map(({ transaction, leafIndex, value }) => [`${transaction} ${leafIndex}`, BigInt(value)]),
  )
  const known = [...byLeaf.values()].reduce((total, value) => total + value, 0n)
  const owed = BigInt((mint ? late?.value : (burn?.value ?? late?.value)) ?? 0n)
  return { known, owed }
}

/** A burn that is under way is left out: it may be mined between the two looks. */
function differenceAt(payment: BookedPayment, books: AuditBooks, chain: AuditChain): Difference[] {
  const { payTo, challengeNonce, phase, demoted } = payment
  const held = chain.balances.get(payTo) ?? 0n
  const { known } = burnsOf(payment, books)
  if (held === known || (phase === 'open' && !demoted)) return []
  // Transfers that cover nothing are in the books without their value.
  const isUnmatched = books.odd.unmatched.some((burn) => burn.challengeNonce === challengeNonce)
  if (held > known && isUnmatched) return []
  return [difference('burned', `the books know ${known}, ${held} lie at ${payTo}`, { challengeNonce })]
}

function unknownBurns(books: AuditBooks, relayed: AuditChain['relayed']): Difference[] {
  const known = new Set(
    books.payments.filter(({ burn, late }) => burn ?? late).map(({ challengeNonce }) => challengeNonce),
  )
  return relayed
    .filter(({ challengeNonce }) => !known.has(challengeNonce))
    .map(({ challengeNonce, transaction, value }) =>
      difference('burned', `our relayer burned ${value}, and the books know nothing of it`, {
        challengeNonce,
        transaction,
      }),
    )
}

const mintsOf = ({ mint, late }: BookedPayment) => [mint, late?.mint].flatMap((one) => one ?? [])

/** Each mint as the books have it: one may bring many payments. */
function bookedMints(payments: readonly BookedPayment[]): Map<string, bigint> {
  const byHash = new Map<string, bigint>()
  for (const { transaction, value } of payments.flatMap(mintsOf)) {
    if (transaction !== undefined) byHash.set(transaction, (byHash.get(transaction) ?? 0n) + BigInt(value))
  }
  return byHash
}

function mintDifferences(
  books: AuditBooks,
  payments: readonly BookedPayment[],
  mints: AuditChain['mints'],
): Difference[] {
  const booked = bookedMints(books.payments)
  const minted = new Map<string, bigint>()
  for (const { transaction, value } of mints) minted.set(transaction, (minted.get(transaction) ?? 0n) + value)
  return [...bookedMints(payments).keys()].flatMap((transaction) => {
    const [known = 0n, value = 0n] = [booked.get(transaction), minted.get(transaction)]
    if (known === value) return []
    return [difference('minted', `the books have ${known} of it, it minted ${value}`, { transaction })]
  })
}

function unknownMints(books: AuditBooks, mints: AuditChain['mints']): Difference[] {
  const booked = bookedMints(books.payments)
  return mints
    .filter(({ transaction }) => !booked.has(transaction))
    .map(({ transaction, value }) =>
      difference('minted', `minted ${value} to the treasury, and no payment of the books has it`, {
        transaction,
      }),
    )
}

export function printAudit(report: AuditReport): string {
  const { period, burned, minted, swept, differences } = report
  const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
  const until = Number.isFinite(period.until) ? time(period.until) : 'now'
  const rows = [
    `period      ${period.since === 0 ? 'the beginning' : time(period.since)} to ${until}, ${report.payments} payments`,
    `burned      ${burned.books} in the books, ${burned.chain} on the chain`,
    `minted      ${minted.books} in the books, ${minted.chain} on the chain`,
    `owed        ${report.owed}`,
    `fees        ${report.feesEarned} earned, ${report.feesDue} due, ${swept.books} swept (${swept.chain} on the chain)`,
    `stuck       ${report.stuck}`,
    `reorged     ${report.reorged}`,
    ...differences.map(({ about, challengeNonce, transaction, message }) =>
      ['differs', about, challengeNonce, transaction, message]
        .filter((part) => part !== undefined)
        .join('  '),
    ),
    differences.length === 0 ? 'chain and books agree' : `${differences.length} differences`,
  ]
  return `${rows.join('\n')}\n`
}
