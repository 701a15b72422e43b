/** The operator's questions: pages of payments, newest first, and counts. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type {
  Books,
  Counts,
  Cursor,
  LedgerFigures,
  Page,
  PageQuery,
  RecordedTransfer,
} from '../../payment/books.js'
import type { Epoch } from '../../payment/epochs/epoch.js'
import type { Payment, RecordedPayment } from '../../payment/records.js'
import type { EventNamed } from '../events.js'
import { mintedOf } from '../leaves.js'
import { leavesIn } from '../rows/leaf-rows.js'
import { epochColumn, epochIn, type Stage } from '../rows/payment-rows.js'
import { loadFees } from '../rows/rows.js'
import { allOf, first, hexOf, key, type Query, type Row, type Step, sql } from '../sql.js'
import type { StepSettings } from '../steps/step-context.js'
import type { Store } from '../store.js'
import { decode } from '../stored.js'

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

function* page(query: PageQuery, at: Now): Step<Page> {
  const { since, until, after, limit, isLate, isDemoted } = query
  const bounds = [
    isRetained(at),
    since !== undefined && sql`issued_at >= ${since}`,
    until !== undefined && sql`issued_at < ${until}`,
    after && sql`(issued_at, nonce) < (${after.issuedAt}, ${key(after.nonce)})`,
    isLate && sql`late IS NOT NULL`,
    isDemoted && sql`stage = 'demoted'`,
  ]
  const rows: Row[] = []
  for (const [stage, isIn] of stagesOf(query.phase, at)) {
    rows.push(
      ...(yield sql`
        SELECT id, issued_at, nonce, record FROM payment WHERE ${allOf([sql`stage = ${stage}`, isIn, ...bounds])}
        ORDER BY issued_at DESC, nonce DESC LIMIT ${Number.isFinite(limit) ? limit + 1 : -1}`),
    )
  }
  rows.sort((a, b) => b.issued_at - a.issued_at || Buffer.compare(Buffer.from(b.nonce), Buffer.from(a.nonce)))
  const shown = rows.slice(0, limit)
  const payments: RecordedPayment[] = []
  for (const row of shown) payments.push(yield* withMints(row))
  const last = shown.at(-1)
  return { payments, ...(last && rows.length > limit && { next: cursorOf(last) }) }
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

/** Epochs in which something can still be paid or minted, the latest first. */
export function* epochsUnderWay(now: number): Step<readonly Epoch[]> {
  const rows = yield sql`
    SELECT DISTINCT epoch, treasury FROM payment WHERE epoch IS NOT NULL
      AND (stage IN ('claimed', 'demoted') OR expires_at > ${now} OR id IN (SELECT payment FROM leaf WHERE awaits_mint = 1))`
  return rows
    .map((row) => ({ ...epochIn(row.epoch), treasury: hexOf(row.treasury) as Epoch['treasury'] }))
    .sort((a, b) => b.start - a.start)
}

export function* paymentsOfEpoch(epoch: Epoch): Step<readonly Payment[]> {
  const rows = yield sql`
    SELECT record FROM payment WHERE epoch = ${epochColumn(epoch)} AND treasury = ${key(epoch.treasury)}
      AND (stage = 'accepted' OR late IS NOT NULL)
    ORDER BY issued_at, nonce`
  return rows.map(({ record }) => decode<Payment>(record))
}

function* counts(at: Now): Step<Counts> {
  const { now } = at
  const stages = yield sql`
    SELECT stage, count(*) AS count, sum(expires_at > ${now}) AS live FROM payment
    WHERE stage <> 'accepted' AND (${isRetained(at)}) GROUP BY stage`
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

function* unmatched(limit: number): Step<readonly RecordedTransfer[]> {
  const rows = yield sql`
    SELECT at, record FROM event WHERE kind = 'burn_unmatched' ORDER BY seq DESC LIMIT ${limit}`
  return rows.map(({ at, record }) => {
    const { challengeNonce, txHash, reason } = decode<EventNamed<'burn_unmatched'>>(record)
    return { challengeNonce, txHash, reason, at }
  })
}

export function createStoreBooks({ ask }: Pick<Store, 'ask'>, at: () => Now): Books {
  return {
    page: (query) => ask(page(query, at())),
    find: (nonce) => ask(find(nonce, at())),
    openEpochs: () => ask(epochsUnderWay(at().now)),
    ofEpoch: (epoch) => ask(paymentsOfEpoch(epoch)),
    counts: () => ask(counts(at())),
    unmatched: (limit) => ask(unmatched(limit)),
    figures: () => ask(figures(at())),
  }
}
