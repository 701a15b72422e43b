/** Payments of a participant: lists, one payment, totals, and the payer's leave for the provider to see it. */
import { reject, toChecksum } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import { limits } from '../../config/limits.js'
import type { HistoryPayment } from '../../history/payment.js'
import { boundsOf, type Sight, seenBy, totalsSeenBy, turnsSeenBy } from '../../history/scopes.js'
import type { HistoryRoutes } from './deps.js'
import { noSuchPayment, type OnePayment, paymentNamedBy } from './one-payment.js'
import { filterOf, readQuery } from './query.js'
import * as schemas from './schemas.js'
import { viewPayment, viewTotals } from './view.js'

export function registerPayments(app: FastifyInstance, routes: HistoryRoutes): void {
  registerList(app, routes)
  registerOne(app, routes)
  registerTotals(app, routes)
}

function registerList(app: FastifyInstance, { door, books, now, refuse }: HistoryRoutes): void {
  app.get('/payments', async (request, reply) => {
    const { sight } = door.visitOf(request)
    const at = now()
    const asked = readQuery(schemas.pageQuery, request.query)
    if (!asked.ok) return refuse(reply, asked)
    const bounds = boundsOf(sight, at)
    if (!bounds.ok) return refuse(reply, bounds)
    const { order = 'time', cursor, limit = limits.pageSize } = asked.value
    const page = await books.page({ ...filterOf(bounds.value, asked.value), order, after: cursor, limit })
    if (page === 'bad_cursor') {
      return refuse(reply, reject('malformed_request', 'cursor: is not the `next` of a page in this order'))
    }
    const seen = page.payments.flatMap((payment) => seenBy(sight, payment, at) ?? [])
    return { payments: seen.map(viewPayment), ...(page.next !== undefined && { next: page.next }) }
  })
}

function registerOne(app: FastifyInstance, { door, books, disclose, now, refuse }: HistoryRoutes): void {
  const view = (sight: Sight, payment: HistoryPayment | undefined) => {
    const at = now()
    const seen = seenBy(sight, payment, at)
    return seen && payment && { payment: viewPayment(seen), turns: turnsSeenBy(sight, payment, at) }
  }

  app.get<OnePayment>('/payments/:challengeNonce', async (request, reply) => {
    const { sight } = door.visitOf(request)
    return view(sight, await paymentNamedBy(request, books)) ?? refuse(reply, noSuchPayment)
  })

  app.post<OnePayment>('/payments/:challengeNonce/disclose', async (request, reply) => {
    const { sight } = door.visitOf(request)
    if (sight.scope?.kind !== 'payer') {
      return refuse(reply, reject('not_entitled', 'only a payer with an address here can disclose a payment'))
    }
    const seen = seenBy(sight, await paymentNamedBy(request, books), now())
    if (!seen) return refuse(reply, noSuchPayment)
    if (seen.disclosedAt === undefined) await disclose(seen.challengeNonce, sight.scope.payer)
    // A reorg may have given the payment to another payer meanwhile.
    return view(sight, await paymentNamedBy(request, books)) ?? refuse(reply, noSuchPayment)
  })
}

function registerTotals(
  app: FastifyInstance,
  { door, books, network, token, now, refuse }: HistoryRoutes,
): void {
  app.get('/totals', async (request, reply) => {
    const { sight } = door.visitOf(request)
    const asked = readQuery(schemas.totalsQuery, request.query)
    if (!asked.ok) return refuse(reply, asked)
    const bounds = boundsOf(sight, now())
    if (!bounds.ok) return refuse(reply, bounds)
    // A burn of this very second belongs to the past.
    const { since = 0, until = Math.max(now(), since) + 1 } = asked.value
    const totals = await books.totals(bounds.value.scope, { since, until })
    return { network, token: toChecksum(token), since, until, ...viewTotals(totalsSeenBy(sight, totals)) }
  })
}
