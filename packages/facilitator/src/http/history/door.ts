/** Participants at the door: whose token a request has, what that participant may see, and how often it may ask. */
import { type Address, type Rejection, reject } from '@svc-zerc20/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Participant } from '../../history/identity/participant.js'
import type { Tokens } from '../../history/identity/tokens.js'
import { type Sight, sightOf } from '../../history/scopes.js'
import type { RateLimit } from '../rate-limit.js'
import type { PathGuard } from '../server.js'

export type Refuse = (reply: FastifyReply, rejection: Rejection, retryAfterSeconds?: number) => FastifyReply

/** A request with a good token. */
type Visit = { readonly participant: Participant; readonly sight: Sight }

export type Door = {
  /** Lets a participant in. Anybody else is answered: the reply is returned. */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>
  /** The participant that came in with this request. */
  visitOf(request: FastifyRequest): Visit
}

/** The values of all `Authorization` headers: Node drops all but the first from `headers`. */
const tokensIn = ({ raw: { rawHeaders } }: FastifyRequest): string[] =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'authorization')

/** For paths beneath `/history` that no route can take. */
export const historyGuard = (tokens: Pick<Tokens, 'read'>): PathGuard => ({
  path: '/history',
  async refusalOf(request) {
    const read = await tokens.read(tokensIn(request))
    return read.ok ? undefined : read
  },
})

export function createDoor({
  tokens,
  participants,
  treasury,
  rate,
  refuse,
}: {
  readonly tokens: Pick<Tokens, 'read'>
  readonly participants: Parameters<typeof sightOf>[1]
  readonly treasury: Address
  readonly rate: RateLimit
  readonly refuse: Refuse
}): Door {
  const visits = new WeakMap<FastifyRequest, Visit>()
  return {
    async enter(request, reply) {
      const read = await tokens.read(tokensIn(request))
      if (!read.ok) return refuse(reply.header('www-authenticate', 'Bearer'), read)
      const participant = read.value
      const taken = await rate.take(participant.role)
      if (taken !== 'ok') return refuse(reply, reject('too_many_requests'), taken.retryAfterSeconds)
      visits.set(request, { participant, sight: sightOf(participant.role, participants, treasury) })
      return undefined
    },
    visitOf(request) {
      const visit = visits.get(request)
      if (!visit) throw new Error('a route of participants is open to everybody')
      return visit
    },
  }
}
