/** Proofs of what a participant sees, and what everybody needs to check one: the issuer's manifest and its revocations. */
import { reject, unixSeconds } from '@svc-zerc20/protocol'
import { boundsOf, seenBy, totalsSeenBy } from '../../history/scopes.js'
import { noSuchPayment } from '../route.js'
import { guardedRoute, openRoute } from './door.js'
import * as schemas from './schemas.js'

const noIssuer = reject('not_found', 'no proof issuer is configured here')

const proofOfOne = (
  path: '/history/payments/{challengeNonce}/proof' | '/history/payments/{challengeNonce}/receipt',
  kind: 'provePayment' | 'receipt',
  declared: { readonly summary: string; readonly refusals: readonly number[] },
) =>
  guardedRoute({
    ...{ method: 'POST', path, ...declared },
    body: schemas.proofRequest,
    answer: schemas.issuedProof,
    async handle({ visitor: { sight }, nonce, body }, { proofs, books, clock }) {
      if (!proofs) return noIssuer
      const seen = seenBy(sight, await books.find(nonce), unixSeconds(clock))
      if (!seen) return noSuchPayment
      const issued = await proofs[kind](sight, seen, body)
      return issued.ok ? issued.value : issued
    },
  })

/** For participants. */
export const proofRoutes = [
  proofOfOne('/history/payments/{challengeNonce}/proof', 'provePayment', {
    summary: 'A proof of one payment, with selective disclosure',
    refusals: [409, 503],
  }),

  proofOfOne('/history/payments/{challengeNonce}/receipt', 'receipt', {
    summary: 'A finality receipt: the burn was minted, without a word about where to',
    refusals: [403, 409, 503],
  }),

  guardedRoute({
    method: 'POST',
    path: '/history/totals/proof',
    summary: 'A proof of the totals of a period that is over',
    body: schemas.totalProofRequest,
    answer: schemas.issuedProof,
    refusals: [404, 409, 503],
    async handle({ visitor: { sight }, body }, { proofs, books, clock }) {
      if (!proofs) return noIssuer
      const bounds = boundsOf(sight, unixSeconds(clock))
      if (!bounds.ok) return bounds
      const { since, until } = body
      const totals = totalsSeenBy(sight, await books.totals(bounds.value.scope, { since, until }))
      const issued = await proofs.proveTotal(sight, totals, { since, until }, body)
      return issued.ok ? issued.value : issued
    },
  }),
]

/** For everybody: whoever checks a proof is usually no participant. */
export const issuerRoutes = [
  openRoute({
    method: 'GET',
    path: '/history/issuer/manifest',
    summary: 'The keys of the proof issuer, signed by its trust anchor',
    answer: { contentType: schemas.signedText },
    refusals: [404, 503],
    async handle({ reply }, { proofs }) {
      const text = proofs ? proofs.manifest() : noIssuer
      return text.ok ? reply.type(schemas.signedText).send(text.value) : text
    },
  }),

  openRoute({
    method: 'GET',
    path: '/history/issuer/revocations',
    summary: 'The revoked proofs, signed by the issuer',
    answer: { contentType: schemas.signedText },
    refusals: [404, 503],
    async handle({ reply }, { proofs }) {
      const text = proofs ? await proofs.revocations() : noIssuer
      return text.ok ? reply.type(schemas.signedText).send(text.value) : text
    },
  }),
]
