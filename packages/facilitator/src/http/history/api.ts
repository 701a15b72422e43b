/** The surface of participants. Without a good token every path beneath `/history` answers 401, but login and the issuer's. */
import { Network, toChecksum } from '@svc-zerc20/protocol'
import type * as z from 'zod'
import type { Sight } from '../../history/scopes.js'
import { guardedRoute } from './authenticate.js'
import { exportRoutes } from './export.js'
import { loginRoutes } from './login.js'
import { paymentRoutes } from './payments.js'
import * as schemas from './schemas.js'
import { issuerRoutes, statementRoutes } from './statements.js'

/** The answers, for those who call it. */
export type HistoryAnswers = {
  readonly whoami: z.infer<typeof schemas.whoami>
  readonly page: z.infer<typeof schemas.historyPage>
  readonly payment: z.infer<typeof schemas.historyPaymentTurns>
  readonly totals: z.infer<typeof schemas.historyTotals>
  readonly challenge: z.infer<typeof schemas.loginChallenge>
  readonly login: z.infer<typeof schemas.login>
  readonly statement: z.infer<typeof schemas.signedStatement>
}

export const historyRoutes = [
  ...loginRoutes,

  guardedRoute({
    method: 'GET',
    path: '/history/whoami',
    summary: 'Who the token stands for',
    answer: schemas.whoami,
    async handle({ visitor: { participant, sight } }, { chainId, token, tokenLabel, statements }) {
      return {
        ...participant,
        ...viewScope(sight.scope),
        network: Network.format(chainId),
        token: toChecksum(token),
        tokenLabel,
        statements: statements !== undefined,
      }
    },
  }),

  ...paymentRoutes,
  ...exportRoutes,
  ...statementRoutes,
  ...issuerRoutes,
]

function viewScope(scope: Sight['scope']) {
  if (scope === undefined) return { sees: 'nonce' as const }
  return scope.kind === 'payer'
    ? { sees: 'address' as const, address: toChecksum(scope.payer) }
    : { sees: 'treasury' as const, treasury: toChecksum(scope.treasury) }
}
