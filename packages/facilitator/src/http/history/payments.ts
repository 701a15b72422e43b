/** Payments of a participant: lists, one payment, totals, and the payer's leave for the provider to see it. */
import { Network, reject, toChecksum, unixSeconds } from '@svc-zerc20/protocol'
import type * as z from 'zod'
import type { HistoryFilter } from '../../history/answers.js'
import type { HistoryPayment } from '../../history/payment.js'
import { type Bounds, boundsOf, type Sight, seenBy, totalsSeenBy, turnsSeenBy } from '../../history/scopes.js'
import { noSuchPayment } from '../route.js'
import { guardedRoute, type HistoryApiDeps } from './authenticate.js'
import * as schemas from './schemas.js'
import { viewPayment } from './view.js'

/** The bounds of a question, within those that the participant cannot choose. */
export function filterOf(
  bounds: Bounds,
  { phase, since, until, minAmount, maxAmount }: Omit<z.infer<typeof schemas.exportQuery>, 'format'>,
): HistoryFilter {
  return { ...bounds, phase, since, until, amountMin: minAmount, amountMax: maxAmount }
}

function viewOne(sight: Sight, payment: HistoryPayment | undefined, { clock }: HistoryApiDeps) {
  const at = unixSeconds(clock)
  const seen = seenBy(sight, payment, at)
  if (!seen || !payment) return noSuchPayment
  return { payment: viewPayment(seen), turns: turnsSeenBy(sight, payment, at) }
}

export const paymentRoutes = [
  guardedRoute({
    method: 'GET',
    path: '/history/payments',
    summary: 'Payments of the participant, newest first',
    query: schemas.pageQuery,
    answer: schemas.historyPage,
    async handle({ visitor: { sight }, query }, { books, clock }) {
      const at = unixSeconds(clock)
      const bounds = boundsOf(sight, at)
      if (!bounds.ok) return bounds
      const { cursor, limit } = query
      const page = await books.page({ ...filterOf(bounds.value, query), after: cursor, limit })
      if (page === 'bad_cursor') return reject('malformed_request', 'cursor: is not the `next` of a page')
      const seen = page.payments.flatMap((payment) => seenBy(sight, payment, at) ?? [])
      return { payments: seen.map(viewPayment), next: page.next }
    },
  }),

  guardedRoute({
    method: 'GET',
    path: '/history/payments/{challengeNonce}',
    summary: 'One payment of the participant and its turns',
    answer: schemas.historyPaymentTurns,
    handle: async ({ visitor: { sight }, nonce }, deps) => viewOne(sight, await deps.books.find(nonce), deps),
  }),

  guardedRoute({
    method: 'POST',
    path: '/history/payments/{challengeNonce}/disclose',
    summary: 'The payer lets the provider see its address and its burn, for good',
    answer: schemas.historyPaymentTurns,
    refusals: [403, 503],
    async handle({ visitor: { sight }, nonce }, deps) {
      const { books, clock } = deps
      if (sight.scope?.kind !== 'payer') {
        return reject('not_entitled', 'only a payer with an address here can disclose a payment')
      }
      const seen = seenBy(sight, await books.find(nonce), unixSeconds(clock))
      if (!seen) return noSuchPayment
      if (seen.disclosedAt === undefined) await deps.disclose(nonce, sight.scope.payer)
      // A reorg may have given the payment to another payer meanwhile.
      return viewOne(sight, await books.find(nonce), deps)
    },
  }),

  guardedRoute({
    method: 'GET',
    path: '/history/totals',
    summary: 'Sums over a period',
    query: schemas.totalsQuery,
    answer: schemas.historyTotals,
    async handle({ visitor: { sight }, query }, { chainId, token, books, clock }) {
      const now = unixSeconds(clock)
      const bounds = boundsOf(sight, now)
      if (!bounds.ok) return bounds
      // A burn of this very second belongs to the past.
      const { since = 0, until = Math.max(now, since) + 1 } = query
      const totals = await books.totals(bounds.value.scope, { since, until })
      const money = { network: Network.format(chainId), token: toChecksum(token) }
      return { ...money, since, until, ...totalsSeenBy(sight, totals) }
    },
  }),
]
