/** Wallet login: a message to sign, and a token for the signature. Open to strangers, so it has its own rate. */
import { accept, parseAddress, reject } from '@svc-zerc20/protocol'
import type { WalletLogin } from '../../history/identity/wallet-login.js'
import { routesOf } from '../route.js'
import type { HistoryApiDeps } from './authenticate.js'
import * as schemas from './schemas.js'

const route = routesOf<HistoryApiDeps, WalletLogin>({
  tag: 'history',
  async enter(request, { login, admission }) {
    if (!login) return reject('not_found', 'wallet login is not configured here')
    return admission.login(request) ?? accept(login)
  },
})

export const loginRoutes = [
  route({
    method: 'POST',
    path: '/history/login/challenge',
    summary: 'A message for a wallet to sign',
    body: schemas.loginChallengeRequest,
    answer: schemas.loginChallenge,
    refusals: [404, 429],
    async handle({ visitor: login, body }) {
      const address = parseAddress(body.address)
      return address ? login.challenge(address) : reject('malformed_request', 'address: malformed')
    },
  }),

  route({
    method: 'POST',
    path: '/history/login',
    summary: 'An identity token for a signed message',
    body: schemas.loginRequest,
    answer: schemas.login,
    refusals: [401, 404, 429, 503],
    async handle({ visitor: login, body }) {
      const token = await login.login(body)
      return token.ok ? token.value : token
    },
  }),
]
