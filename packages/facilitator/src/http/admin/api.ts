/** The administrative surface. Without the token every path beneath `/admin` answers 401, known or not. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import type { Page } from '../../payment/books.js'
import type { StuckAddress } from '../../payment/found/judge-transfers.js'
import type { Challenge, RecordedPayment } from '../../payment/records.js'
import { metricsContentType } from '../../telemetry/metrics.js'
import type { Telemetry } from '../../telemetry/telemetry.js'
import { noSuchPayment, routesOf } from '../route.js'
import type { PathGuard } from '../server.js'
import * as feeSchemas from './fee-schemas.js'
import { gaugesOf } from './gauges.js'
import * as schemas from './schemas.js'
import { issuanceOf, type StatusDeps, viewRelayer, viewStatus } from './status.js'
import { viewCursor, viewFees, viewPayment, viewStuck, viewSweepAnswer, viewTimeline } from './view.js'

export type AdminApiDeps = StatusDeps & {
  readonly guard: PathGuard
  readonly telemetry: Pick<Telemetry, 'recent' | 'metrics'>
  /** Tries the mint of a payment again. Absent while nothing is minted here. */
  readonly retryMint: ((nonce: ChallengeNonce) => Promise<void>) | undefined
  /** Mints what was left out of the epoch of a payment. Absent while nothing is minted here. */
  readonly closeEpoch: ((challenge: Challenge) => Promise<number | 'single' | 'running'>) | undefined
  /** Addresses with money that a single proof does not bring; the newest, at most `limit`. */
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
    path: '/admin/challenges',
    summary: 'Open challenges, newest first',
    query: schemas.pageQuery,
    answer: schemas.challengePage,
    async handle({ query }, deps) {
      const { payments: challenges, next } = viewPage(
        await deps.ledger.books.page({ ...query, phase: 'open' }),
        deps,
      )
      const { open } = await deps.ledger.books.figures()
      return { open, max: deps.openChallengesMax, issuance: issuanceOf(deps), challenges, next }
    },
  }),

  route({
    method: 'GET',
    path: '/admin/payments',
    summary: 'Payments of every phase, newest first',
    query: schemas.paymentQuery,
    answer: schemas.paymentPage,
    handle: async ({ query }, deps) => viewPage(await deps.ledger.books.page(query), deps),
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
    async handle({ nonce }, { ledger, clock, owed, telemetry }) {
      const payment = await ledger.books.find(nonce)
      if (!payment) return noSuchPayment
      const now = clock.now()
      return {
        payment: viewPayment(payment, now, owed.waitOf),
        timeline: viewTimeline(payment, telemetry.recent.of(nonce), now),
      }
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

  route({
    method: 'POST',
    path: '/admin/payments/{challengeNonce}/close-epoch',
    summary: 'Mint what was left out of the epoch of a payment',
    answer: schemas.epochClose,
    async handle({ nonce }, { ledger, closeEpoch }) {
      const payment = await ledger.books.find(nonce)
      if (!payment) return noSuchPayment
      const closed = (await closeEpoch?.(payment.challenge)) ?? 'off'
      if (typeof closed !== 'number') return { challengeNonce: nonce, epoch: closed, transfers: 0 }
      return { challengeNonce: nonce, epoch: closed > 0 ? 'closing' : 'complete', transfers: closed }
    },
  }),
]

const money = [
  route({
    method: 'GET',
    path: '/admin/relayer',
    summary: 'Balances of the relayer and the minter, and their transactions in flight',
    answer: schemas.relayerView,
    async handle(_asked, deps) {
      await deps.readiness()
      return viewRelayer(deps)
    },
  }),

  route({
    method: 'GET',
    path: '/admin/fees',
    summary: 'Fees that are due, under way and swept',
    answer: feeSchemas.fees,
    handle: async (_asked, { fees }) => viewFees(await fees.view()),
  }),

  route({
    method: 'POST',
    path: '/admin/fees/sweep',
    summary: 'Sweep the fees that are due now, or only tell what would be swept',
    query: feeSchemas.sweepQuery,
    answer: feeSchemas.sweepAnswer,
    handle: async ({ query }, { fees }) =>
      viewSweepAnswer(await fees.sweepNow({ isDryRun: query.dryRun === 'true' })),
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
      return { issuance: issuanceOf(deps) }
    },
  }),

  route({
    method: 'POST',
    path: '/admin/resume',
    summary: 'Issue challenges again',
    answer: schemas.issuance,
    async handle(_asked, deps) {
      await deps.issuance.resume()
      return { issuance: issuanceOf(deps) }
    },
  }),
]

export const adminRoutes = [
  route({
    method: 'GET',
    path: '/admin/status',
    summary: 'The daemon at a glance',
    answer: schemas.status,
    handle: (_asked, deps) => viewStatus(deps),
  }),

  ...lists,
  ...onePayment,
  ...money,
  ...issuance,

  route({
    method: 'GET',
    path: '/admin/metrics',
    summary: 'Metrics in the Prometheus text format',
    answer: { contentType: metricsContentType },
    async handle({ reply }, deps) {
      const { fees } = await deps.ledger.books.figures()
      const gauges = { ...gaugesOf(await viewStatus(deps)), svc_fees_base_units_total: fees }
      return reply.type(metricsContentType).send(await deps.telemetry.metrics.render(gauges))
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
  await retry(challenge.nonce)
  return 'due'
}
