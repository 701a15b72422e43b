/** The surface of participants. Without a good token every path beneath `/history` answers 401, but login and the issuer's. */
import { Network, toChecksum } from '@svc-zerc20/protocol'
import { guardedRoute } from './door.js'
import { exportRoutes } from './export.js'
import { loginRoutes } from './login.js'
import { paymentRoutes } from './payments.js'
import * as schemas from './schemas.js'
import { issuerRoutes, statementRoutes } from './statements.js'

export const historyRoutes = [
  ...loginRoutes,

  guardedRoute({
    method: 'GET',
    path: '/history/whoami',
    summary: 'Who the token stands for',
    answer: schemas.whoami,
    async handle({ visitor: { participant, sight } }, { chainId, token, statements }) {
      const { scope } = sight
      return {
        ...participant,
        sees: scope === undefined ? 'nonce' : scope.kind === 'payer' ? 'address' : 'treasury',
        ...(scope?.kind === 'payer' && { address: toChecksum(scope.payer) }),
        ...(scope?.kind === 'treasury' && { treasury: toChecksum(scope.treasury) }),
        network: Network.format(chainId),
        token: toChecksum(token),
        statements: statements !== undefined,
      }
    },
  }),

  ...paymentRoutes,
  ...exportRoutes,
  ...statementRoutes,
  ...issuerRoutes,
]
