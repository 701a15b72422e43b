/** Every route of the daemon: what it takes and what it may answer. The OpenAPI document is made of this table. */
import type { z } from 'zod'
import { metricsContentType } from '../telemetry/metrics.js'
import * as feeSchemas from './admin/fee-schemas.js'
import * as adminSchemas from './admin/schemas.js'
import * as publicSchemas from './public/schemas.js'
import { problem } from './schema-parts.js'

export type Answer = z.ZodType | { readonly contentType: string }

export type Operation = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly tag: 'payment' | 'operation' | 'admin'
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly answer: Answer
  /** Statuses of refusals, and the shape they have on this path. */
  readonly refusals: readonly number[]
  readonly refusal: z.ZodType
}

const plain = { refusal: problem, refusals: [] } as const
const admin = { tag: 'admin', refusal: problem, refusals: [401] } as const

export const operations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/supported',
    tag: 'payment',
    summary: 'Which scheme and network are served',
    answer: publicSchemas.supported,
    ...plain,
  },
  {
    method: 'POST',
    path: '/challenge',
    tag: 'payment',
    summary: 'A fresh one-time offer',
    body: publicSchemas.challengeRequest,
    answer: publicSchemas.challengeOffer,
    refusal: problem,
    refusals: [400, 403, 413, 415, 429, 503],
  },
  {
    method: 'POST',
    path: '/verify',
    tag: 'payment',
    summary: 'Would this payment be accepted now? Changes nothing',
    body: publicSchemas.paymentRequest,
    answer: publicSchemas.verifyResponse,
    refusal: publicSchemas.verifyResponse,
    refusals: [400, 413, 415, 429, 503],
  },
  {
    method: 'POST',
    path: '/settle',
    tag: 'payment',
    summary: 'Accept this payment',
    body: publicSchemas.settleRequest,
    answer: publicSchemas.settleResponse,
    refusal: publicSchemas.settleResponse,
    refusals: [400, 413, 415, 429, 503],
  },
  {
    method: 'GET',
    path: '/payments/{challengeNonce}',
    tag: 'payment',
    summary: 'Where one payment stands',
    answer: publicSchemas.paymentStatus,
    refusal: problem,
    refusals: [404],
  },
  {
    method: 'GET',
    path: '/health',
    tag: 'operation',
    summary: 'The process is alive',
    answer: publicSchemas.health,
    ...plain,
  },
  {
    method: 'GET',
    path: '/ready',
    tag: 'operation',
    summary: 'Payments can be taken',
    answer: publicSchemas.readiness,
    refusal: publicSchemas.readiness,
    refusals: [503],
  },
  {
    method: 'GET',
    path: '/openapi.json',
    tag: 'operation',
    summary: 'This document',
    answer: { contentType: 'application/json' },
    ...plain,
  },
  {
    method: 'GET',
    path: '/admin/status',
    summary: 'The daemon at a glance',
    answer: adminSchemas.status,
    ...admin,
  },
  {
    method: 'GET',
    path: '/admin/challenges',
    summary: 'Open challenges, newest first',
    query: adminSchemas.pageQuery,
    answer: adminSchemas.challengePage,
    ...admin,
    refusals: [400, 401],
  },
  {
    method: 'GET',
    path: '/admin/payments',
    summary: 'Payments of every phase, newest first',
    query: adminSchemas.paymentQuery,
    answer: adminSchemas.paymentPage,
    ...admin,
    refusals: [400, 401],
  },
  {
    method: 'GET',
    path: '/admin/payments/{challengeNonce}',
    summary: 'One payment and its turns',
    answer: adminSchemas.paymentTimeline,
    ...admin,
    refusals: [401, 404],
  },
  {
    method: 'POST',
    path: '/admin/payments/{challengeNonce}/retry',
    summary: 'Try the mint of a payment again now',
    answer: adminSchemas.mintRetry,
    ...admin,
    refusals: [401, 404],
  },
  {
    method: 'GET',
    path: '/admin/late',
    summary: 'Burns that bought nothing: late ones, and transfers that cover no challenge',
    query: adminSchemas.pageQuery,
    answer: adminSchemas.oddBurns,
    ...admin,
    refusals: [400, 401],
  },
  {
    method: 'GET',
    path: '/admin/relayer',
    summary: 'Balances of the relayer and the minter, and their transactions in flight',
    answer: adminSchemas.relayerView,
    ...admin,
  },
  {
    method: 'GET',
    path: '/admin/fees',
    summary: 'Fees that are due, under way and swept',
    answer: feeSchemas.fees,
    ...admin,
  },
  {
    method: 'POST',
    path: '/admin/fees/sweep',
    summary: 'Sweep the fees that are due now, or only tell what would be swept',
    query: feeSchemas.sweepQuery,
    answer: feeSchemas.sweepAnswer,
    ...admin,
    refusals: [400, 401],
  },
  {
    method: 'POST',
    path: '/admin/pause',
    summary: 'Issue no new challenges; everything under way goes on',
    query: adminSchemas.pauseQuery,
    answer: adminSchemas.issuance,
    ...admin,
    refusals: [400, 401],
  },
  {
    method: 'POST',
    path: '/admin/resume',
    summary: 'Issue challenges again',
    answer: adminSchemas.issuance,
    ...admin,
  },
  {
    method: 'GET',
    path: '/admin/metrics',
    summary: 'Metrics in the Prometheus text format',
    answer: { contentType: metricsContentType },
    ...admin,
  },
]
