/** The decider over HTTP: jobs are submitted and asked for by whoever has the token. */
import { limitConnections, timeoutsOf } from '@svc-zerc20/daemon'
import { type Secret, SvcError } from '@svc-zerc20/protocol'
import type { CircuitInput } from '@svc-zerc20/zk'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import * as z from 'zod'
import { createAdminAuth } from '../../http/admin/auth.js'
import { decodeWitness } from './job-bytes.js'
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
  const mayAsk = createAdminAuth(deps.token)
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
    const { job_id: id, circuit, ivc_proof: text } = read.data
    if (!deps.circuits.includes(circuit)) return fail(reply, 400, 'there are no keys of this circuit here')
    const bytes = Buffer.from(text, 'base64')
    const input = inputIn(bytes)
    if (!input) return fail(reply, 400, 'ivc_proof is no witness in our format')
    const end = jobs.submit(id, circuit, bytes, input)
    if (end.kind === 'other_witness') return fail(reply, 409, 'this job_id has another witness')
    if (!('job' in end)) return tryLater(reply, 'too many jobs wait')
    const { status } = end.job
    return reply
      .code(end.kind === 'taken' ? 202 : 200)
      .send({ job_id: id, status, message: `job ${end.kind}` })
  })
  return app
}

function inputIn(bytes: Buffer): CircuitInput | undefined {
  try {
    return decodeWitness(bytes)
  } catch (err) {
    if (err instanceof SvcError) return undefined
    throw err
  }
}

const viewJob = ({ id, circuit, status, result, error }: Job) => ({
  job_id: id,
  circuit,
  status,
  result: result?.toString('base64') ?? null,
  error: error ?? null,
})

const fail = (reply: FastifyReply, status: number, error: string) => reply.code(status).send({ error })

const tryLater = (reply: FastifyReply, error: string) =>
  fail(reply.header('retry-after', deciderLimits.retryAfterSeconds), 503, error)
