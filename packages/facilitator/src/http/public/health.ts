/** For supervisors and load balancers: is the process alive, can it take payments, what does it speak. */
import * as z from 'zod'
import type { Admission } from '../admission.js'
import type { ReadinessProblem } from '../health/readiness.js'
import type { PackedText } from '../packed-text.js'
import { routesOf } from '../route.js'
import { named } from '../schema-parts.js'

/** Cheap to ask: the chain is read once in a few seconds, however many ask. */
export type Readiness = () => Promise<{ readonly problems: readonly ReadinessProblem[] }>

export type HealthApiDeps = {
  readonly readiness: Readiness
  /** The OpenAPI document. */
  readonly document: PackedText
  readonly admission: Pick<Admission, 'aside'>
}

const healthAnswer = named('Health', 'The process answers.', z.looseObject({ status: z.literal('live') }))

export const readinessProblems = z.array(
  z.looseObject({
    part: z.enum(['standby', 'chain', 'clock', 'relayer', 'addresses', 'ledger', 'history']),
    problem: z.string(),
  }),
)

const readinessAnswer = named(
  'Readiness',
  'Whether payments can be taken, and if not, all that stands in the way.',
  z.looseObject({ ready: z.boolean(), problems: readinessProblems }),
)

const retryAfterSeconds = 5
const route = routesOf<HealthApiDeps>({ tag: 'operation' })
const documentRoute = routesOf<HealthApiDeps>({
  tag: 'operation',
  enter: async (request, { admission }) => admission.aside(request, 'document'),
})

export const healthRoutes = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'The process is alive',
    answer: healthAnswer,
    needsLedger: () => false,
    handle: async () => ({ status: 'live' as const }),
  }),

  route({
    method: 'GET',
    path: '/ready',
    summary: 'Payments can be taken',
    answer: readinessAnswer,
    refusal: readinessAnswer,
    refusals: [503],
    needsLedger: () => false,
    async handle({ reply }, { readiness }) {
      const { problems } = await readiness()
      const ready = problems.length === 0
      if (!ready) reply.code(503).header('retry-after', retryAfterSeconds)
      return { ready, problems }
    },
  }),

  documentRoute({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    answer: { contentType: 'application/json' },
    refusals: [429],
    needsLedger: () => false,
    handle: async ({ request, reply }, { document }) =>
      document(request, reply.type('application/json; charset=utf-8')),
  }),
]
