/** The operator's questions: pages of payments, newest first, and counts. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type {
  Books,
  Counts,
  Cursor,
  HourFigures,
  LedgerFigures,
  LedgerTurn,
  MintCursor,
  OwedFigures,
  Page,
  PageQuery,
  RecordedTransfer,
  Sum,
} from '../../payment/books.js'
import type { Epoch } from '../../payment/epochs/epoch.js'
import type { Payment, RecordedPayment } from '../../payment/records.js'
import type { EventNamed } from '../events.js'
import { type Leaf, mintedOf } from '../leaves.js'
import { leavesIn } from '../rows/leaf-rows.js'
import { epochColumn, epochIn, type Stage } from '../rows/payment-rows.js'
import { loadFees } from '../rows/rows.js'
import { allOf, first, hexOf, key, type Query, type Row, type Step, sql } from '../sql.js'
import type { StepSettings } from '../steps/step-context.js'
import type { Store } from '../store.js'
import { decode } from '../stored.js'
import { sumColumns, sumIn, unitsColumn } from '../units.js'

type Now = { readonly now: number; readonly settings: Pick<StepSettings, 'expiredRetentionSeconds'> }

/** Whether a challenge that nobody paid is still told of. Its row stays longer, for transfers to its address. */
const isRetained = ({ now, settings }: Now): Query =>
  sql`stage <> 'unclaimed' OR expires_at > ${now - settings.expiredRetentionSeconds}`

/** The stages that a phase is made of, and the condition for those that are in it. */
function stagesOf(phase: PageQuery['phase'], { now }: Now): readonly [Stage, Query][] {
  const always = sql`1 = 1`
  const isLive = sql`expires_at > ${now}`
  const isOver = sql`expires_at <= ${now}`
  const awaits = sql`id IN (SELECT payment FROM leaf WHERE awaits_mint = 1 AND place = 0)`
  const underWay: [Stage, Query][] = [
    ['claimed', always],
    ['demoted', always],
  ]
  switch (phase) {
    case undefined:
      return [...underWay, ['unclaimed', always], ['kept', always], ['accepted', always]]
    case 'open':
      return [...underWay, ['unclaimed', isLive], ['kept', isLive]]
    case 'expired':
      return [
        ['unclaimed', isOver],
        ['kept', isOver],
      ]
    case 'accepted':
      return [['accepted', awaits]]
    case 'finalized':
      return [['accepted', sql`NOT (${awaits})`]]
  }
}

/** Filters that no index has, so they are asked of each row. */
const filterOf = ({ amountMin, amountMax, seller }: PageQuery): Query | undefined =>
  amountMin === undefined && amountMax === undefined && seller === undefined
    ? undefined
    : allOf([
        amountMin !== undefined && sql`listed_amount >= ${unitsColumn(amountMin)}`,
        amountMax !== undefined && sql`listed_amount <= ${unitsColumn(amountMax)}`,
        seller !== undefined && sql`seller = ${seller}`,
      ])

const newestFirst = (a: Row, b: Row) =>
  b.issued_at - a.issued_at || Buffer.compare(Buffer.from(b.nonce), Buffer.from(a.nonce))

function* page(query: PageQuery, at: Now, examinedMax: number): Step<Page> {
  const { since, until, after, limit, isLate, isDemoted } = query
  const bounds = [
    isRetained(at),
    since !== undefined && sql`issued_at >= ${since}`,
    until !== undefined && sql`issued_at < ${until}`,
    after && sql`(issued_at, nonce) < (${after.issuedAt}, ${key(after.nonce)})`,
    isLate && sql`late IS NOT NULL`,
    isDemoted && sql`stage = 'demoted'`,
  ]
  const filter = filterOf(query)
  const atOnce = filter ? Math.max(examinedMax, limit + 1) : limit + 1
  const found: Row[] = []
  // Behind the last row of a stage that was not read to its end, nothing is known.
  let end: Row | undefined
  for (const [stage, isIn] of stagesOf(query.phase, at)) {
    const rows = yield sql`
      SELECT id, issued_at, nonce, ${filter ?? sql`1`} AS taken FROM payment
      WHERE ${allOf([sql`stage = ${stage}`, isIn, ...bounds])}
      ORDER BY issued_at DESC, nonce DESC LIMIT ${Number.isFinite(atOnce) ? atOnce : -1}`
    const last = rows.length === atOnce ? rows.at(-1) : undefined
    if (last && (!end || newestFirst(last, end) < 0)) end = last
    found.push(...rows.filter(({ taken }) => taken))
  }
  const known = found.filter((row) => !end || newestFirst(row, end) <= 0).sort(newestFirst)
  const shown = known.slice(0, limit)
  const last = known.length > limit ? shown.at(-1) : end
  const payments: RecordedPayment[] = []
  for (const { id } of shown) {
    const row = yield* first(sql`SELECT id, record FROM payment WHERE id = ${id}`)
    if (row) payments.push(yield* withMints(row))
  }
  return { payments, ...(last && { next: cursorOf(last) }) }
}

const cursorOf = (row: Row): Cursor => ({
  issuedAt: row.issued_at,
  nonce: hexOf(row.nonce) as ChallengeNonce,
})

/** A payment with its mints, for those who may know of them. */
function* withMints({ id, record }: Row): Step<RecordedPayment> {
  const leaves = leavesIn(yield sql`SELECT place, record FROM leaf WHERE payment = ${id} ORDER BY place`)
  return { ...decode<Payment>(record), ...mintedOf(leaves) }
}

function* find(nonce: ChallengeNonce, at: Now): Step<RecordedPayment | undefined> {
  const row = yield* first(sql`
    SELECT id, record FROM payment WHERE nonce = ${key(nonce)} AND (${isRetained(at)})`)
  return row && (yield* withMints(row))
}

/** Only a payment that is claimed and released again and again has more. */
const turnsMax = 100

function* turns(nonce: ChallengeNonce): Step<readonly LedgerTurn[]> {
  const rows = yield sql`
    SELECT at, kind, record FROM event WHERE payment = (SELECT id FROM payment WHERE nonce = ${key(nonce)})
    ORDER BY seq DESC LIMIT ${turnsMax}`
  return rows.map(turnIn).reverse()
}

/** The fields in which events name a burn, a mint or a reason. */
type Told = Partial<
  Pick<EventNamed<'burn_late'>, 'burn'> &
    Pick<EventNamed<'payment_finalized'>, 'mint'> &
    Pick<EventNamed<'mint_signed'>, 'transaction'> &
    Pick<EventNamed<'claim_released'>, 'why'> &
    Pick<EventNamed<'burn_unmatched'>, 'txHash' | 'reason'>
>

function turnIn({ at, kind, record }: Row): LedgerTurn {
  const { burn, mint, transaction, why, ...told } = decode<Told>(record)
  const txHash = (burn ?? mint ?? why)?.txHash ?? transaction?.hash ?? told.txHash
  return { at, event: kind, txHash, reason: told.reason ?? why?.reason }
}

/** Payments that one search shows: as many as a transaction has burns, and more. */
const searchedMax = 100

function* search(name: string, at: Now): Step<readonly RecordedPayment[]> {
  const named = key(name)
  const rows = yield sql`
    SELECT id, record FROM payment WHERE (${isRetained(at)}) AND id IN (
      SELECT id FROM payment WHERE nonce = ${named}
      UNION SELECT id FROM payment WHERE pay_to = ${named}
      UNION SELECT payment FROM leaf WHERE burn_tx = ${named}
      UNION SELECT payment.id FROM signed JOIN carried USING (slot) JOIN payment USING (nonce) WHERE signed.hash = ${named})
    ORDER BY issued_at DESC LIMIT ${searchedMax}`
  const payments: RecordedPayment[] = []
  for (const row of rows) payments.push(yield* withMints(row))
  return payments
}

const secondsPerHour = 3_600
/** Literal, because a number that is handed in divides as a fraction. */
const hourOf = (column: 'burned_at' | 'minted_at'): Query => ({
  text: `${column} / ${secondsPerHour}`,
  values: [],
})

function* hours(since: number, until: number): Step<readonly HourFigures[]> {
  const accepted = yield sql`
    SELECT ${hourOf('burned_at')} AS hour, count(*) AS payments, ${sumColumns('part', 'part')}, ${sumColumns('fee', 'fee')}
    FROM leaf WHERE bought = 1 AND burned_at >= ${since} AND burned_at < ${until} GROUP BY 1`
  const finalized = yield sql`
    SELECT ${hourOf('minted_at')} AS hour, count(*) AS payments, ${sumColumns('minted', 'minted')}
    FROM leaf WHERE minted_at >= ${since} AND minted_at < ${until} GROUP BY 1`
  const rowsOf = (rows: readonly Row[]) => new Map<number, Row>(rows.map((row) => [row.hour, row]))
  const [burned, minted] = [rowsOf(accepted), rowsOf(finalized)]
  const sum = (row: Row | undefined, name: string): Sum => ({
    payments: row?.payments ?? 0,
    amount: sumIn(row, name),
  })
  return [...new Set([...burned.keys(), ...minted.keys()])]
    .sort((a, b) => a - b)
    .map((hour) => ({
      at: hour * secondsPerHour,
      accepted: sum(burned.get(hour), 'part'),
      fees: sumIn(burned.get(hour), 'fee'),
      finalized: sum(minted.get(hour), 'minted'),
    }))
}

/** Burns that are looked at for the company of a page of mints. */
const companyMax = 2_000

function* mints(limit: number, after: MintCursor | undefined): Step<Awaited<ReturnType<Books['mints']>>> {
  const place = after && sql`(minted_at, payment, place) < (${after.at}, ${after.payment}, ${after.place})`
  const rows = yield sql`
    SELECT payment, place, minted_at, record FROM leaf WHERE ${allOf([sql`minted_at IS NOT NULL`, place])}
    ORDER BY minted_at DESC, payment DESC, place DESC LIMIT ${limit + 1}`
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const others = last ? yield* burnsBeside(last.minted_at) : []
  return {
    mints: shown.flatMap(({ minted_at: at, record }) => {
      const { challenge, burn, reason, finalized } = decode<Leaf>(record)
      if (!finalized) return []
      const isBatch = challenge.epoch !== undefined
      const couldBe = (other: Row) =>
        other.burned_at <= at &&
        (other.minted_at === null || other.minted_at >= at) &&
        (isBatch || BigInt(other.part) === burn.value)
      return {
        challengeNonce: challenge.nonce,
        burn: burn.txHash,
        burned: burn.value,
        fee: reason === undefined ? challenge.fee?.amount : undefined,
        mint: finalized.mint,
        at,
        isBatch,
        company: Math.max(1, others.filter(couldBe).length),
      }
    }),
    ...(last &&
      rows.length > limit && { next: { at: last.minted_at, payment: last.payment, place: last.place } }),
  }
}

/** Burns that were minted then or later, or wait. */
function* burnsBeside(mintedAt: number): Step<readonly Row[]> {
  const later = yield sql`
    SELECT burned_at, minted_at, part FROM leaf WHERE minted_at >= ${mintedAt} AND part IS NOT NULL
    ORDER BY minted_at LIMIT ${companyMax}`
  const waiting = yield sql`
    SELECT burned_at, minted_at, part FROM leaf WHERE awaits_mint = 1 AND part IS NOT NULL
    ORDER BY burned_at LIMIT ${companyMax}`
  return [...later, ...waiting]
}

/** Epochs in which something can still be paid or minted, the latest first. */
function* epochsUnderWay(now: number): Step<readonly Epoch[]> {
  // Each part by its own index: together they would be looked for in every payment that there ever was.
  const rows = yield sql`
    SELECT epoch, treasury FROM payment WHERE epoch IS NOT NULL AND stage IN ('claimed', 'demoted')
    UNION SELECT epoch, treasury FROM payment
      WHERE epoch IS NOT NULL AND stage IN ('unclaimed', 'kept') AND expires_at > ${now}
    UNION SELECT epoch, payment.treasury FROM leaf JOIN payment ON payment.id = leaf.payment
      WHERE awaits_mint = 1 AND epoch IS NOT NULL`
  return rows
    .map((row) => ({ ...epochIn(row.epoch), treasury: hexOf(row.treasury) as Epoch['treasury'] }))
    .sort((a, b) => b.start - a.start)
}

function* paymentsOfEpoch(epoch: Epoch): Step<readonly Payment[]> {
  const rows = yield sql`
    SELECT record FROM payment WHERE epoch = ${epochColumn(epoch)} AND treasury = ${key(epoch.treasury)}
      AND (stage = 'accepted' OR late IS NOT NULL)
    ORDER BY issued_at, nonce`
  return rows.map(({ record }) => decode<Payment>(record))
}

function* counts(at: Now): Step<Counts> {
  const { now } = at
  const stages = yield sql`
    SELECT stage, count(*) AS count, sum(CASE WHEN expires_at > ${now} THEN 1 ELSE 0 END) AS live FROM payment
    WHERE stage IN ('unclaimed', 'kept', 'claimed', 'demoted') AND (${isRetained(at)}) GROUP BY stage`
  const of = (stage: Stage) => stages.find((row) => row.stage === stage)
  const all = (stage: Stage): number => of(stage)?.count ?? 0
  const live = (stage: Stage): number => of(stage)?.live ?? 0
  const count = function* (query: Query): Step<number> {
    return (yield* first(query))?.count
  }
  const awaiting = yield* count(sql`SELECT count(*) AS count FROM leaf WHERE awaits_mint = 1 AND place = 0`)
  const accepted = yield* count(sql`SELECT count(*) AS count FROM payment WHERE stage = 'accepted'`)
  return {
    open: all('claimed') + all('demoted') + live('unclaimed') + live('kept'),
    expired: all('unclaimed') - live('unclaimed') + all('kept') - live('kept'),
    accepted: awaiting,
    finalized: accepted - awaiting,
    claimed: all('claimed') + all('demoted'),
    demoted: all('demoted'),
    late: yield* count(sql`SELECT count(*) AS count FROM payment WHERE late = 'late'`),
    found: yield* count(sql`SELECT count(*) AS count FROM payment WHERE late IS NOT NULL AND late <> 'late'`),
    unmatched: yield* count(sql`SELECT count(*) AS count FROM event WHERE kind = 'burn_unmatched'`),
  }
}

function* figures({ now }: Now): Step<LedgerFigures> {
  const open = yield* first(sql`
    SELECT count(*) AS count FROM payment WHERE stage = 'unclaimed' AND expires_at > ${now}`)
  return { open: open?.count, fees: yield* loadFees() }
}

function* owed(): Step<OwedFigures> {
  const awaiting = yield* first(sql`
    SELECT count(*) AS payments, min(burned_at) AS oldest_at, ${sumColumns('part', 'part')} FROM leaf WHERE awaits_mint = 1`)
  // Late burns that a larger one replaced: it is minted for the difference.
  const minted = yield* first(sql`
    SELECT ${sumColumns('minted', 'minted')} FROM leaf
    WHERE part IS NULL AND payment IN (SELECT payment FROM leaf WHERE awaits_mint = 1 AND place = 1)`)
  return {
    payments: awaiting?.payments,
    value: sumIn(awaiting, 'part') - sumIn(minted, 'minted'),
    oldestAt: awaiting?.oldest_at ?? undefined,
  }
}

function* unmatched(limit: number): Step<readonly RecordedTransfer[]> {
  const rows = yield sql`
    SELECT at, record FROM event WHERE kind = 'burn_unmatched' ORDER BY seq DESC LIMIT ${limit}`
  return rows.map(({ at, record }) => {
    const { challengeNonce, txHash, reason } = decode<EventNamed<'burn_unmatched'>>(record)
    return { challengeNonce, txHash, reason, at }
  })
}

/** `examinedMax`: rows of a stage that one page looks at when a filter without an index narrows them. */
export function createStoreBooks({ ask }: Pick<Store, 'ask'>, at: () => Now, examinedMax = 5_000): Books {
  return {
    page: (query) => ask(page(query, at(), examinedMax)),
    find: (nonce) => ask(find(nonce, at())),
    turns: (nonce) => ask(turns(nonce)),
    search: (name) => ask(search(name, at())),
    hours: (since, until) => ask(hours(since, until)),
    mints: (limit, after) => ask(mints(limit, after)),
    openEpochs: () => ask(epochsUnderWay(at().now)),
    ofEpoch: (epoch) => ask(paymentsOfEpoch(epoch)),
    counts: () => ask(counts(at())),
    unmatched: (limit) => ask(unmatched(limit)),
    figures: () => ask(figures(at())),
    owed: () => ask(owed()),
  }
}
