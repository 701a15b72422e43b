/** The surface of participants. Without a good token every path beneath `/history` answers 401, but login and the issuer's. */
import { Network, toChecksum } from '@svc-zerc20/protocol'
import type * as z from 'zod'
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
      const { scope } = sight
      return {
        ...participant,
        sees: scope === undefined ? 'nonce' : scope.kind === 'payer' ? 'address' : 'treasury',
        ...(scope?.kind === 'payer' && { address: toChecksum(scope.payer) }),
        ...(scope?.kind === 'treasury' && { treasury: toChecksum(scope.treasury) }),
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
