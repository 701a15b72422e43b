/**
 * One declaration for each endpoint: what it takes, what it answers, and its handler. The server registers the declarations,
 * and the OpenAPI document is made of them.
 */
import {
  accept,
  type ChallengeNonce,
  parseChallengeNonce,
  type Rejection,
  type Result,
  reject,
} from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { type Refusal, sendRefusal } from './problem.js'
import { problem } from './schema-parts.js'

export type Answer = z.ZodType | { readonly contentType: string }

/** A route as the document describes it. */
export type Described = {
  readonly method: 'GET' | 'POST'
  /** As OpenAPI writes it, such as `/payments/{challengeNonce}`. */
  readonly path: string
  readonly tag: 'payment' | 'operation' | 'admin' | 'history'
  readonly summary: string
  /** Needs a bearer token of this surface. */
  readonly auth?: 'admin' | 'history'
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly answer: Answer
  /** Another content type that the caller can choose. */
  readonly otherwise?: { readonly contentType: string }
  /** Statuses of refusals that do not follow from the rest, and the shape that refusals have here. */
  readonly refusals?: readonly number[]
  readonly refusal: z.ZodType
}

export type Route<D> = Described & { register(app: FastifyInstance, deps: D): void }

/** Terms that routes of one kind have in common. */
type Kind<D, V> = Pick<Described, 'tag' | 'auth'> & {
  /** Judges a request before its body is read. Gives what the handler has to know about the caller, if anything. */
  enter?(request: FastifyRequest, deps: D): Promise<Result<V> | Refusal | undefined>
  /** Counts a request whose body nobody can read: its handler, which counts all others, does not hear of it. */
  countUnread?(request: FastifyRequest, deps: D): Promise<Refusal | undefined>
}

/** What fits a schema once it is written as JSON: amounts are decimal strings then, and what is undefined is left out. */
type Unwritten<T> = unknown extends T
  ? unknown
  : string extends T
    ? T | bigint
    : T extends readonly (infer E)[]
      ? readonly Unwritten<E>[]
      : T extends object
        ? { readonly [K in keyof T]: Unwritten<T[K]> | (undefined extends T[K] ? undefined : never) }
        : T

type Declaration<D, V, P extends string, Q extends z.ZodObject, B extends z.ZodType, A extends Answer> = Omit<
  Described,
  'tag' | 'auth' | 'refusal'
> & {
  readonly path: P
  readonly answer: A
  /** A query or body that does not fit is refused. Unknown keys are ignored. */
  readonly query?: Q
  readonly body?: B
  /** The protocol defines the body, so the handler reads it with the protocol's parser, which knows the order of reasons. */
  readonly isWire?: true
  /** A problem unless told. */
  readonly refusal?: z.ZodType
  /** False where a daemon that stands by has the answer, too. */
  readonly needsLedger?: (deps: D) => boolean
  handle(asked: RouteInput<V, P, Q, B>, deps: D): Promise<Answered<A> | Refusal>
}

type Answered<A extends Answer> = A extends z.ZodType ? Unwritten<z.input<A>> & object : never

type RouteInput<V, P, Q, B> = {
  readonly visitor: V
  readonly nonce: P extends `${string}{challengeNonce}${string}` ? ChallengeNonce : undefined
  readonly query: z.output<Q>
  readonly body: z.output<B>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** The function that declares routes of one kind. A handler returns the answer, a refusal, or the reply it has sent. */
export const routesOf =
  <D, V = undefined>({ enter, countUnread, ...kind }: Kind<D, V>) =>
  <P extends string, A extends Answer, Q extends z.ZodObject = never, B extends z.ZodType = never>({
    handle,
    isWire,
    needsLedger = () => true,
    ...declared
  }: Declaration<D, V, P, Q, B, A>): Route<D> => {
    const visitors = new WeakMap<FastifyRequest, V>()

    async function letIn(request: FastifyRequest, reply: FastifyReply, deps: D) {
      const entered = await enter?.(request, deps)
      if (entered?.ok === false) return sendRefusal(reply, entered)
      if (entered) visitors.set(request, entered.value)
      if (!needsLedger(deps) || !request.server.isStandby()) return undefined
      // A balancer that leads connections, and not requests, finds the active daemon for the next one.
      reply.header('connection', 'close')
      return sendRefusal(reply, reject('standby'))
    }

    function read(request: FastifyRequest, reply: FastifyReply): Result<RouteInput<V, P, Q, B>> {
      const query = readWith(declared.query, request.query)
      if (!query.ok) return query
      const body = isWire ? accept(undefined) : readWith(declared.body, request.body ?? {})
      if (!body.ok) return body
      const given = (request.params as { challengeNonce?: string }).challengeNonce
      const nonce = given === undefined ? undefined : parseChallengeNonce(given)
      if (given !== undefined && !nonce) return noSuchPayment
      const visitor = visitors.get(request)
      return accept({ visitor, nonce, query: query.value, body: body.value, request, reply } as never)
    }

    return {
      ...kind,
      ...declared,
      refusal: declared.refusal ?? problem,
      register(app, deps) {
        app.route({
          method: declared.method,
          url: declared.path.replace(/\{(\w+)\}/g, ':$1'),
          onRequest: (request, reply) => letIn(request, reply, deps),
          ...(countUnread && {
            async errorHandler(error, request, reply) {
              const refused = isUnread(error) ? await countUnread(request, deps) : undefined
              if (!refused) throw error
              return sendRefusal(reply, refused)
            },
          }),
          async handler(request, reply) {
            const asked = read(request, reply)
            const answer = asked.ok ? await handle(asked.value, deps) : asked
            return 'ok' in answer && answer.ok === false ? sendRefusal(reply, answer as Rejection) : answer
          },
        })
      },
    }
  }

/** Only the parser of bodies has errors with a status of the caller's fault: handlers return what callers did wrong. */
const isUnread = ({ statusCode = 500 }: { readonly statusCode?: number }): boolean =>
  statusCode >= 400 && statusCode < 500

export function registerRoutes<D>(app: FastifyInstance, routes: readonly Route<D>[], deps: D): void {
  for (const route of routes) route.register(app, deps)
}

/** The one answer for a bad nonce, an unknown payment and a payment of somebody else. */
export const noSuchPayment = reject('not_found', 'no such payment')

function readWith(schema: z.ZodType | undefined, given: unknown): Result<unknown> {
  if (!schema) return accept(undefined)
  const read = schema.safeParse(given)
  if (read.success) return accept(read.data)
  const [issue] = read.error.issues
  const where = issue?.path.join('.') || 'request'
  return reject('malformed_request', `${where}: ${issue?.message ?? 'malformed'}`)
}
