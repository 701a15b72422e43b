/** For supervisors and load balancers: is the process alive, can it take payments, what does it speak. */
import type { FastifyInstance } from 'fastify'
import type { ReadinessProblem } from '../health/readiness.js'
import { openApiDocument } from '../openapi.js'

/** Cheap to ask: the chain is read once in a few seconds, however many ask. */
export type Readiness = () => Promise<{ readonly problems: readonly ReadinessProblem[] }>

const retryAfterSeconds = 5

export function registerHealthApi(app: FastifyInstance, { readiness }: { readiness: Readiness }): void {
  /** The document is made on first use: few ask for it, and a start need not wait for it. */
  let document: string | undefined

  app.get('/health', async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'live' }),
  )

  app.get('/ready', async (_request, reply) => {
    const { problems } = await readiness()
    const ready = problems.length === 0
    reply.header('cache-control', 'no-store')
    if (!ready) reply.code(503).header('retry-after', retryAfterSeconds)
    return reply.send({ ready, problems })
  })

  app.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApiDocument())
    return reply.type('application/json; charset=utf-8').send(document)
  })
}
