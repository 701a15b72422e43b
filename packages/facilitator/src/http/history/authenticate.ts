/** Authenticates participants: whose token a request has, what that participant may see, and how often it may ask. */
import type { Readable } from 'node:stream'
import {
  type Address,
  accept,
  type ChallengeNonce,
  type Clock,
  type Result,
  type TokenLabel,
} from '@svc-zerc20/protocol'
import type { FastifyRequest } from 'fastify'
import type { HistorySettings } from '../../config/secrets/history.js'
import type { HistoryBooks } from '../../history/answers.js'
import type { Participant, Tokens } from '../../history/identity/tokens.js'
import type { WalletLogin } from '../../history/identity/wallet-login.js'
import { type Sight, sightOf } from '../../history/scopes.js'
import type { Statements } from '../../history/statements/statements.js'
import type { Admission } from '../admission.js'
import type { Refusal } from '../problem.js'
import { routesOf } from '../route.js'
import type { PathGuard } from '../server.js'

export type HistoryApiDeps = {
  readonly chainId: number
  readonly token: Address
  /** Symbol and decimals, as the token tells them. */
  readonly tokenLabel: TokenLabel | undefined
  readonly treasury: Address
  readonly participants: HistorySettings['participants']
  readonly tokens: Pick<Tokens, 'read'>
  /** Absent unless both participants have a wallet. */
  readonly login: WalletLogin | undefined
  readonly books: HistoryBooks
  /** Lets the provider see payer and burn from now on. Durable when it resolves; a second time changes nothing. */
  readonly disclose: (nonce: ChallengeNonce, payer: Address) => Promise<void>
  /** Absent without a statement issuer. */
  readonly statements: Statements | undefined
  /** The exports of each participant that have not ended. */
  readonly exports: Readonly<Record<Sight['role'], Set<Readable>>>
  readonly admission: Pick<Admission, 'participant' | 'login'>
  readonly clock: Pick<Clock, 'now' | 'sleep'>
}

/** A request with a good token. */
type Session = { readonly participant: Participant; readonly sight: Sight }

/** Routes for everybody. */
export const openRoute = routesOf<HistoryApiDeps>({ tag: 'history' })

/** Routes for participants. */
export const guardedRoute = routesOf<HistoryApiDeps, Session>({ tag: 'history', auth: 'history', enter })

/** For paths beneath `/history` that reach no route. */
export const historyGuard = (deps: Parameters<typeof enter>[1]): PathGuard => ({
  path: '/history',
  async refusalOf(request) {
    const entered = await enter(request, deps)
    return entered.ok ? undefined : entered
  },
})

async function enter(
  request: FastifyRequest,
  {
    tokens,
    admission,
    participants,
    treasury,
  }: Pick<HistoryApiDeps, 'tokens' | 'admission' | 'participants' | 'treasury'>,
): Promise<Result<Session> | Refusal> {
  const read = await tokens.read(tokensIn(request))
  if (!read.ok) return read
  const participant = read.value
  return (
    admission.participant(participant.role) ??
    accept({ participant, sight: sightOf(participant.role, participants, treasury) })
  )
}

/** The values of all `Authorization` headers: Node drops all but the first from `headers`. */
const tokensIn = ({ raw: { rawHeaders } }: FastifyRequest): string[] =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'authorization')
