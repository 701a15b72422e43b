/** Proofs of what a participant sees, and what everybody needs to check one: the issuer's manifest and its revocations. */
import { type Result, reject } from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { boundsOf, seenBy, totalsSeenBy } from '../../history/scopes.js'
import type { IssuedProof } from '../../history/statements/proofs.js'
import type { HistoryRoutes } from './deps.js'
import { noSuchPayment, type OnePayment, paymentNamedBy } from './one-payment.js'
import { readBody, readPeriod } from './query.js'
import * as schemas from './schemas.js'

const noIssuer = reject('not_found', 'no proof issuer is configured here')

/** For participants. */
export function registerProofs(app: FastifyInstance, routes: HistoryRoutes): void {
  const { door, books, proofs, now, refuse } = routes
  const send = (reply: FastifyReply, issued: Result<IssuedProof>) =>
    issued.ok ? issued.value : refuse(reply, issued)

  for (const [path, kind] of [
    ['/payments/:challengeNonce/proof', 'provePayment'],
    ['/payments/:challengeNonce/receipt', 'receipt'],
  ] as const) {
    app.post<OnePayment>(path, async (request, reply) => {
      const { sight } = door.visitOf(request)
      if (!proofs) return refuse(reply, noIssuer)
      const body = readBody(schemas.proofRequest, request.body)
      if (!body.ok) return refuse(reply, body)
      const seen = seenBy(sight, await paymentNamedBy(request, books), now())
      if (!seen) return refuse(reply, noSuchPayment)
      return send(reply, await proofs[kind](sight, seen, body.value))
    })
  }

  app.post('/totals/proof', async (request, reply) => {
    const { sight } = door.visitOf(request)
    if (!proofs) return refuse(reply, noIssuer)
    const body = readBody(schemas.totalProofRequest, request.body)
    if (!body.ok) return refuse(reply, body)
    const period = readPeriod(body.value)
    if (!period.ok) return refuse(reply, period)
    const bounds = boundsOf(sight, now())
    if (!bounds.ok) return refuse(reply, bounds)
    const totals = await books.totals(bounds.value.scope, period.value)
    return send(reply, await proofs.proveTotal(sight, totalsSeenBy(sight, totals), period.value, body.value))
  })
}

/** For everybody: whoever checks a proof is usually no participant. */
export function registerIssuer(app: FastifyInstance, { proofs, refuse }: HistoryRoutes): void {
  const send = (reply: FastifyReply, text: Result<string>) =>
    text.ok ? reply.type(schemas.signedText).send(text.value) : refuse(reply, text)

  app.get('/issuer/manifest', async (_request, reply) => send(reply, proofs ? proofs.manifest() : noIssuer))

  app.get('/issuer/revocations', async (_request, reply) =>
    send(reply, proofs ? await proofs.revocations() : noIssuer),
  )
}
