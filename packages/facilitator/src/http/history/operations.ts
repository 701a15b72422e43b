/** The routes of participants. They exist only with a configured payment history; without it they are not found. */
import type { Operation } from '../operation.js'
import { problem } from '../schema-parts.js'
import * as schemas from './schemas.js'

const open = { tag: 'history', refusal: problem } as const
const guarded = { tag: 'history', isGuarded: true, refusal: problem } as const

export const historyOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/history/login/challenge',
    summary: 'A message for a wallet to sign',
    body: schemas.loginChallengeRequest,
    answer: schemas.loginChallenge,
    ...open,
    refusals: [400, 404, 413, 415, 429],
  },
  {
    method: 'POST',
    path: '/history/login',
    summary: 'An identity token for a signed message',
    body: schemas.loginRequest,
    answer: schemas.login,
    ...open,
    refusals: [400, 401, 404, 413, 415, 429],
  },
  {
    method: 'GET',
    path: '/history/whoami',
    summary: 'Who the token stands for',
    answer: schemas.whoami,
    ...guarded,
    refusals: [401, 429],
  },
  {
    method: 'GET',
    path: '/history/payments',
    summary: 'Payments of the participant, newest or largest first',
    query: schemas.pageQuery,
    answer: schemas.historyPage,
    ...guarded,
    refusals: [400, 401, 429],
  },
  {
    method: 'GET',
    path: '/history/payments/{challengeNonce}',
    summary: 'One payment of the participant and its turns',
    answer: schemas.historyPayment,
    ...guarded,
    refusals: [401, 404, 429],
  },
  {
    method: 'POST',
    path: '/history/payments/{challengeNonce}/disclose',
    summary: 'The payer lets the provider see its address and its burn, for good',
    answer: schemas.historyPayment,
    ...guarded,
    refusals: [401, 403, 404, 429, 503],
  },
  {
    method: 'GET',
    path: '/history/totals',
    summary: 'Sums over a period',
    query: schemas.totalsQuery,
    answer: schemas.historyTotals,
    ...guarded,
    refusals: [400, 401, 429],
  },
  {
    method: 'GET',
    path: '/history/export',
    summary: 'Everything the participant may see, oldest first, as JSON or CSV',
    query: schemas.exportQuery,
    answer: schemas.historyExport,
    otherwise: { contentType: 'text/csv' },
    ...guarded,
    refusals: [400, 401, 429],
  },
]
