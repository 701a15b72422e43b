/** Statements of what a participant sees, and what everybody needs to check one: the issuer's manifest and its revocations. */
import { reject, unixSeconds } from '@svc-zerc20/protocol'
import { boundsOf, seenBy, totalsSeenBy } from '../../history/scopes.js'
import { noSuchPayment } from '../route.js'
import { guardedRoute, openRoute } from './authenticate.js'
import * as schemas from './schemas.js'

const noIssuer = reject('not_found', 'no statement issuer is configured here')

const statementOfOne = (
  path: '/history/payments/{challengeNonce}/statement' | '/history/payments/{challengeNonce}/receipt',
  kind: 'statePayment' | 'receipt',
  declared: { readonly summary: string; readonly refusals: readonly number[] },
) =>
  guardedRoute({
    method: 'POST',
    path,
    ...declared,
    body: schemas.statementRequest,
    answer: schemas.signedStatement,
    async handle({ visitor: { sight }, nonce, body }, { statements, books, clock }) {
      if (!statements) return noIssuer
      const seen = seenBy(sight, await books.find(nonce), unixSeconds(clock))
      if (!seen) return noSuchPayment
      const issued = await statements[kind](sight, seen, body)
      return issued.ok ? issued.value : issued
    },
  })

/** For participants. */
export const statementRoutes = [
  statementOfOne('/history/payments/{challengeNonce}/statement', 'statePayment', {
    summary: 'A statement of one payment, with selective disclosure',
    refusals: [409, 503],
  }),

  statementOfOne('/history/payments/{challengeNonce}/receipt', 'receipt', {
    summary: 'A finality receipt: the burn was minted, without a word about where to',
    refusals: [403, 409, 503],
  }),

  guardedRoute({
    method: 'POST',
    path: '/history/totals/statement',
    summary: 'A statement of the totals of a period that is over',
    body: schemas.totalStatementRequest,
    answer: schemas.signedStatement,
    refusals: [404, 409, 503],
    async handle({ visitor: { sight }, body }, { statements, books, clock }) {
      if (!statements) return noIssuer
      const bounds = boundsOf(sight, unixSeconds(clock))
      if (!bounds.ok) return bounds
      const { since, until } = body
      const totals = totalsSeenBy(sight, await books.totals(bounds.value.scope, { since, until }))
      const issued = await statements.stateTotal(sight, totals, { since, until }, body)
      return issued.ok ? issued.value : issued
    },
  }),
]

/** For everybody: the reader of a statement is usually no participant. */
export const issuerRoutes = [
  openRoute({
    method: 'GET',
    path: '/history/issuer/manifest',
    summary: 'The keys of the statement issuer, signed by its trust anchor',
    answer: { contentType: schemas.signedText },
    refusals: [404, 503],
    async handle({ reply }, { statements }) {
      const text = statements ? statements.manifest() : noIssuer
      return text.ok ? reply.type(schemas.signedText).send(text.value) : text
    },
  }),

  openRoute({
    method: 'GET',
    path: '/history/issuer/revocations',
    summary: 'The revoked statements, signed by the issuer',
    answer: { contentType: schemas.signedText },
    refusals: [404, 503],
    async handle({ reply }, { statements }) {
      const text = statements ? await statements.revocations() : noIssuer
      return text.ok ? reply.type(schemas.signedText).send(text.value) : text
    },
  }),
]
