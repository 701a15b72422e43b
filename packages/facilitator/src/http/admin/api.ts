/** The administrative surface. Without the token every path beneath `/admin` answers 401, known or not. */
import { reject } from '@svc-zerc20/protocol'
import type * as z from 'zod'
import type { Indexer } from '../../chain/indexer.js'
import type { HourFigures, Page } from '../../payment/books.js'
import type { StuckAddress } from '../../payment/found/judge-transfers.js'
import type { Challenge, RecordedPayment } from '../../payment/records.js'
import { metricsContentType } from '../../telemetry/metrics.js'
import type { Telemetry } from '../../telemetry/telemetry.js'
import { noSuchPayment, routesOf } from '../route.js'
import type { PathGuard } from '../server.js'
import { readGauges } from './gauges.js'
import * as schemas from './schemas.js'
import { issuanceOf, type StatusDeps, viewStatus } from './status.js'
import { viewCursor, viewMintCursor, viewMinted, viewPayment, viewStuck, viewSweepAnswer } from './view.js'

/** The answers, for those who call it. */
export type AdminAnswers = {
  readonly status: z.infer<typeof schemas.status>
  readonly payments: z.infer<typeof schemas.paymentPage>
  readonly payment: z.infer<typeof schemas.paymentTimeline>
  readonly waiting: z.infer<typeof schemas.waitingPage>
  readonly late: z.infer<typeof schemas.oddBurns>
  readonly hours: z.infer<typeof schemas.hours>
  readonly mints: z.infer<typeof schemas.mintPage>
  readonly indexer: z.infer<typeof schemas.indexerView>
}

export type AdminApiDeps = StatusDeps & {
  readonly guard: PathGuard
  readonly telemetry: Pick<Telemetry, 'metrics'>
  /** Tries the mint of a payment again. Absent while nothing is minted here. */
  readonly retryMint: ((challenge: Challenge) => Promise<void>) | undefined
  /** Settings that decide how well mints hide. */
  readonly mintSettings: z.infer<typeof schemas.mintPage>['settings']
  /** Absent while nothing is minted here. */
  readonly indexerStatus: Indexer['status'] | undefined
  /** The newest `countMax` addresses with money that a single proof cannot mint. */
  readonly stuckTransfers: (countMax: number) => Promise<readonly StuckAddress[]>
}

const route = routesOf<AdminApiDeps>({
  tag: 'admin',
  auth: 'admin',
  enter: (request, { guard }) => guard.refusalOf(request),
})

const lists = [
  route({
    method: 'GET',
    path: '/admin/payments',
    summary: 'Payments of every phase, newest first',
    query: schemas.paymentQuery,
    answer: schemas.paymentPage,
    async handle({ query: { find, minAmount, maxAmount, ...query } }, deps) {
      const { books } = deps.ledger
      if (find) return viewPage({ payments: await books.search(find) }, deps)
      return viewPage(await books.page({ ...query, amountMin: minAmount, amountMax: maxAmount }), deps)
    },
  }),

  route({
    method: 'GET',
    path: '/admin/waiting',
    summary: 'Payments that are burned and not minted, the longest waiting first',
    query: schemas.waitingQuery,
    answer: schemas.waitingPage,
    async handle({ query: { limit, reason } }, deps) {
      const nonces = await deps.owed.waiting(limit, reason)
      const found = await Promise.all(nonces.map((nonce) => deps.ledger.books.find(nonce)))
      return viewPage({ payments: found.flatMap((payment) => payment ?? []) }, deps)
    },
  }),

  route({
    method: 'GET',
    path: '/admin/late',
    summary: 'Burns that bought nothing: late ones, and transfers that cover no challenge',
    query: schemas.pageQuery,
    answer: schemas.oddBurns,
    async handle({ query }, deps) {
      const { books } = deps.ledger
      const { limit } = query
      const { payments: late, next } = viewPage(await books.page({ ...query, isLate: true }), deps)
      const { payments: demoted } = viewPage(await books.page({ isDemoted: true, limit }), deps)
      const stuck = (await deps.stuckTransfers(limit)).map(viewStuck)
      return { late, unmatched: await books.unmatched(limit), stuck, demoted, next }
    },
  }),
]

const onePayment = [
  route({
    method: 'GET',
    path: '/admin/payments/{challengeNonce}',
    summary: 'One payment and its turns',
    answer: schemas.paymentTimeline,
    async handle({ nonce }, { ledger: { books }, clock, owed }) {
      const [payment, timeline] = await Promise.all([books.find(nonce), books.turns(nonce)])
      if (!payment) return noSuchPayment
      return { payment: viewPayment(payment, clock.now(), owed.waitOf), timeline }
    },
  }),

  route({
    method: 'POST',
    path: '/admin/payments/{challengeNonce}/retry',
    summary: 'Try the mint of a payment again now',
    answer: schemas.mintRetry,
    async handle({ nonce }, deps) {
      const payment = await deps.ledger.books.find(nonce)
      if (!payment) return noSuchPayment
      return { challengeNonce: nonce, mint: await retryMint(payment, deps.retryMint) }
    },
  }),
]

const daySeconds = 86_400

const figures = [
  route({
    method: 'GET',
    path: '/admin/hours',
    summary: 'What each hour of a period brought',
    query: schemas.hoursQuery,
    answer: schemas.hours,
    async handle({ query: { since, until } }, { ledger: { books } }) {
      const hours: HourFigures[] = []
      // One question for each day: others are answered in between.
      for (let start = since; start < until; start += daySeconds) {
        hours.push(...(await books.hours(start, Math.min(start + daySeconds, until))))
      }
      return { hours }
    },
  }),

  route({
    method: 'GET',
    path: '/admin/mints',
    summary: 'Burns and their mints, newest first, and how well they hide',
    query: schemas.mintsQuery,
    answer: schemas.mintPage,
    async handle({ query: { limit, after } }, { ledger, mintSettings: settings }) {
      const { mints, next } = await ledger.books.mints(limit, after)
      return { mints: mints.map(viewMinted), settings, next: next && viewMintCursor(next) }
    },
  }),

  route({
    method: 'GET',
    path: '/admin/indexer',
    summary: 'How far the indexer is',
    answer: schemas.indexerView,
    async handle(_asked, { indexerStatus, finalizeOff: off }) {
      if (!indexerStatus) return { reachable: false, off }
      return indexerStatus().then(
        (status) => ({ reachable: true, ...status }),
        (error: Error) => ({ reachable: false, problem: `it gave no answer: ${error.message}` }),
      )
    },
  }),
]

const issuance = [
  route({
    method: 'POST',
    path: '/admin/pause',
    summary: 'Issue no new challenges; everything under way goes on',
    query: schemas.pauseQuery,
    answer: schemas.issuance,
    async handle({ query }, deps) {
      await deps.issuance.pause(query.message)
      return { issuance: await issuanceOf(deps) }
    },
  }),

  route({
    method: 'POST',
    path: '/admin/resume',
    summary: 'Issue challenges again',
    answer: schemas.issuance,
    async handle(_asked, deps) {
      await deps.issuance.resume()
      return { issuance: await issuanceOf(deps) }
    },
  }),
]

export const adminRoutes = [
  route({
    method: 'GET',
    path: '/admin/status',
    summary: 'The daemon at a glance',
    answer: schemas.status,
    needsLedger: () => false,
    async handle({ request, reply }, deps) {
      const status = await viewStatus(deps)
      // Also the active daemon stands by while its database is away, and nobody else could tell then how things stand.
      if (!request.server.isStandby() || status.mints === undefined) return status
      reply.header('connection', 'close')
      return reject('standby')
    },
  }),

  ...lists,
  ...onePayment,
  ...figures,

  route({
    method: 'POST',
    path: '/admin/fees/sweep',
    summary: 'Sweep the fees that are due now, or only tell what would be swept',
    query: schemas.sweepQuery,
    answer: schemas.sweepAnswer,
    handle: async ({ query }, { fees }) =>
      viewSweepAnswer(await fees.sweepNow({ isDryRun: query.dryRun === 'true' })),
  }),

  ...issuance,

  route({
    method: 'GET',
    path: '/admin/metrics',
    summary: 'Metrics in the Prometheus text format',
    answer: { contentType: metricsContentType },
    needsLedger: () => false,
    async handle({ reply }, deps) {
      const text = await deps.telemetry.metrics.render(await readGauges(deps))
      return reply.type(metricsContentType).send(text)
    },
  }),
]

const viewPage = ({ payments, next }: Page, { clock, owed }: AdminApiDeps) => ({
  payments: payments.map((payment) => viewPayment(payment, clock.now(), owed.waitOf)),
  next: next && viewCursor(next),
})

async function retryMint(
  { challenge, accepted, late, finalized }: RecordedPayment,
  retry: AdminApiDeps['retryMint'],
): Promise<z.infer<typeof schemas.mintRetry>['mint']> {
  if (finalized) return 'finalized'
  if (!accepted && !late) return 'not_burned'
  if (!retry) return 'off'
  await retry(challenge)
  return 'due'
}
