/** The surface of participants. Without a good token every path beneath `/history` answers 401, but login and the issuer's. */
import { Network, toChecksum, unixSeconds } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import { limits } from '../../config/limits.js'
import { sendRejection } from '../problem.js'
import { answerUnrouted } from '../routes.js'
import type { HistoryApiDeps, HistoryRoutes } from './deps.js'
import { createDoor, type Refuse } from './door.js'
import { registerExport } from './export.js'
import { registerLogin } from './login.js'
import { registerPayments } from './payments.js'
import { registerIssuer, registerProofs } from './proofs.js'

export function registerHistoryApi(app: FastifyInstance, deps: HistoryApiDeps): void {
  const { chainId } = deps
  const refuse: Refuse = (reply, rejection, retryAfter) =>
    sendRejection(reply, rejection, {
      surface: 'plain',
      chainId,
      ...(retryAfter !== undefined && { retryAfter }),
    })
  const rate = deps.rateLimits('history', limits.historyRequestsPerMin)
  const routes: HistoryRoutes = {
    ...deps,
    door: createDoor({ ...deps, rate, refuse }),
    network: Network.format(chainId),
    now: () => unixSeconds(deps.clock),
    refuse,
  }
  app.register(
    async (history) => {
      // The guard below takes every request from its participant's rate.
      const unrouted = answerUnrouted(history, { chainId })
      history.addHook('onRequest', async (_request, reply) => {
        reply.header('cache-control', 'no-store')
      })
      registerLogin(history, routes)
      registerIssuer(history, routes)
      history.register(async (guarded) => {
        guarded.addHook('onRequest', async (request, reply) => routes.door.enter(request, reply))
        // Unknown paths have the guard above, too.
        guarded.setNotFoundHandler(unrouted)
        registerWhoami(guarded, routes)
        registerPayments(guarded, routes)
        registerExport(guarded, routes)
        registerProofs(guarded, routes)
      })
    },
    { prefix: '/history' },
  )
}

function registerWhoami(app: FastifyInstance, { door, network, token, proofs }: HistoryRoutes): void {
  app.get('/whoami', async (request) => {
    const { participant, sight } = door.visitOf(request)
    const { scope } = sight
    return {
      ...participant,
      sees: scope === undefined ? 'nonce' : scope.kind === 'payer' ? 'address' : 'treasury',
      ...(scope?.kind === 'payer' && { address: toChecksum(scope.payer) }),
      ...(scope?.kind === 'treasury' && { treasury: toChecksum(scope.treasury) }),
      network,
      token: toChecksum(token),
      proofs: proofs !== undefined,
    }
  })
}
