/** Wallet login: a message to sign, and a token for the signature. Open to strangers, so it has a rate of its own. */
import { callerKey } from '@svc-zerc20/daemon'
import { parseAddress, reject } from '@svc-zerc20/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../config/limits.js'
import type { HistoryRoutes } from './deps.js'
import { readBody } from './query.js'
import * as schemas from './schemas.js'

type LoginDeps = Pick<HistoryRoutes, 'login' | 'rateLimits' | 'refuse'>

export function registerLogin(app: FastifyInstance, { login, rateLimits, refuse }: LoginDeps): void {
  const rate = rateLimits('history_login', limits.historyLoginsPerMin)

  /** Before the body is read. */
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!login) return refuse(reply, reject('not_found', 'wallet login is not configured here'))
    const taken = await rate.take(callerKey(request.ip))
    return taken === 'ok' ? undefined : refuse(reply, reject('too_many_requests'), taken.retryAfterSeconds)
  }

  app.post('/login/challenge', { onRequest }, async (request, reply) => {
    const body = readBody(schemas.loginChallengeRequest, request.body)
    if (!body.ok) return refuse(reply, body)
    const address = parseAddress(body.value.address)
    if (!address) return refuse(reply, reject('malformed_request', 'address: malformed'))
    return login?.challenge(address)
  })

  app.post('/login', { onRequest }, async (request, reply) => {
    const body = readBody(schemas.loginRequest, request.body)
    if (!body.ok) return refuse(reply, body)
    const token = await login?.login(body.value)
    if (!token?.ok) return refuse(reply, token ?? reject('not_found'))
    return token.value
  })
}
