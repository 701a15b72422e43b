/** The decider over HTTP: jobs are submitted and asked for by whoever has the token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { limitConnections, timeoutsOf } from '@svc-zerc20/daemon'
import type { Secret } from '@svc-zerc20/protocol'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import * as z from 'zod'
import type { ProofInput } from '../message.js'
import { decodeWitness } from './job-text.js'
import type { Job, Jobs } from './jobs.js'
import { deciderLimits } from './limits.js'

const submission = z.object({
  job_id: z.string().regex(/^[\w-]{1,128}$/),
  circuit: z.string().max(64),
  ivc_proof: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
})

export function createDeciderServer(deps: {
  readonly jobs: Jobs
  readonly token: Secret<string>
  /** Circuits whose keys are here. */
  readonly circuits: readonly string[]
  readonly onError: (route: string, err: unknown) => void
}): FastifyInstance {
  const { jobs } = deps
  const mayAsk = createAuth(deps.token)
  const app = Fastify({
    logger: false,
    bodyLimit: deciderLimits.bodyBytesMax,
    ...timeoutsOf(deciderLimits.connections),
    forceCloseConnections: true,
  })
  const connections = limitConnections(app.server, deciderLimits.connections)
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', async (request, reply) => {
    const { authorization } = request.headers
    const refusal = connections.refusalOf(request.raw, () => mayAsk(authorization))
    if (refusal) reply.header('connection', 'close')
    if (refusal === 'several_hosts') return fail(reply, 400, 'several Host headers')
    if (refusal === 'overloaded') return tryLater(reply, 'too many connections')
    if (request.url === '/healthz' || mayAsk(authorization)) return
    return fail(reply, 401, 'the token is missing or wrong')
  })
  app.setNotFoundHandler((_request, reply) => fail(reply, 404, 'not found'))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500) return fail(reply, statusCode, error.message)
    deps.onError(request.routeOptions.url ?? 'unknown', error)
    return fail(reply, 500, 'internal error')
  })

  app.get('/healthz', async (_request, reply) => reply.code(200).send())

  app.get('/jobs/:id', async (request, reply) => {
    const job = jobs.find((request.params as { id: string }).id)
    return job ? viewJob(job) : fail(reply, 404, 'no such job: it was never submitted, or is forgotten')
  })

  app.post('/jobs', async (request, reply) => {
    const read = submission.safeParse(request.body)
    if (!read.success) return fail(reply, 400, 'expected job_id, circuit and ivc_proof')
    const { job_id: id, circuit, ivc_proof: witness } = read.data
    if (!deps.circuits.includes(circuit)) return fail(reply, 400, 'there are no keys of this circuit here')
    const input = inputIn(witness)
    if (!input) return fail(reply, 400, 'ivc_proof is no witness in our format')
    const end = jobs.submit({ id, circuit }, witness, input)
    if (end.kind === 'other_witness') return fail(reply, 409, 'this job_id has another witness')
    if (!('job' in end)) return tryLater(reply, 'too many jobs wait')
    const { status } = end.job
    return reply
      .code(end.kind === 'taken' ? 202 : 200)
      .send({ job_id: id, status, message: `job ${end.kind}` })
  })
  return app
}

/** Both sides are hashed first, so that the time taken shows nothing of the token. */
function createAuth(token: Secret<string>): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(`Bearer ${token.reveal()}`)
  return (authorization = '') => timingSafeEqual(digest(authorization), expected)
}

function inputIn(witness: string): ProofInput | undefined {
  try {
    return decodeWitness(witness)
  } catch {
    return undefined
  }
}

const viewJob = ({ id, circuit, status, result, error }: Job) => ({
  job_id: id,
  circuit,
  status,
  result: result ?? null,
  error: error ?? null,
})

const fail = (reply: FastifyReply, status: number, error: string) => reply.code(status).send({ error })

const tryLater = (reply: FastifyReply, error: string) =>
  fail(reply.header('retry-after', deciderLimits.retryAfterSeconds), 503, error)
