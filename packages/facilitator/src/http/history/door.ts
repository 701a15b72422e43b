/** Participants at the door: whose token a request has, what that participant may see, and how often it may ask. */
import { reject } from '@svc-zerc20/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Participant } from '../../history/identity/participant.js'
import type { Tokens } from '../../history/identity/tokens.js'
import { type Sight, sightOf } from '../../history/scopes.js'
import { sendRejection } from '../problem.js'
import type { RateLimit } from '../rate-limit.js'
import type { PathGuard } from '../server.js'

/** A request with a good token. */
export type Visit = { readonly participant: Participant; readonly sight: Sight }

type DoorDeps = {
  readonly chainId: number
  readonly tokens: Pick<Tokens, 'read'>
  readonly participants: Parameters<typeof sightOf>[1]
  readonly treasury: Parameters<typeof sightOf>[2]
  readonly rate: RateLimit
}

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

export function createDoor({ chainId, tokens, participants, treasury, rate }: DoorDeps): Door {
  const visits = new WeakMap<FastifyRequest, Visit>()
  return {
    async enter(request, reply) {
      const read = await tokens.read(tokensIn(request))
      if (!read.ok) {
        reply.header('www-authenticate', 'Bearer')
        return sendRejection(reply, read, { surface: 'plain', chainId })
      }
      const participant = read.value
      if (await isBeyond(rate, participant.role, reply, chainId)) return reply
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

/**
 * Answers a caller that used up its rate, and says so. The answer itself is not returned: whoever awaits a reply of Fastify
 * gets nothing, once it is sent.
 */
export async function isBeyond(
  rate: RateLimit,
  key: string,
  reply: FastifyReply,
  chainId: number,
): Promise<boolean> {
  const taken = await rate.take(key)
  if (taken === 'ok') return false
  sendRejection(reply, reject('too_many_requests'), {
    surface: 'plain',
    chainId,
    retryAfter: taken.retryAfterSeconds,
  })
  return true
}
