/** What the routes of participants need, and what they share. */
import type { Address, ChallengeNonce, Rejection, Result, UnixSeconds } from '@svc-zerc20/protocol'
import type { FastifyReply } from 'fastify'
import type { HistorySettings } from '../../config/history-settings.js'
import type { HistoryBooks } from '../../history/books.js'
import type { IssuedToken } from '../../history/identity/participant.js'
import type { Tokens } from '../../history/identity/tokens.js'
import type { Clock } from '../../payment/ports.js'
import type { RateLimits } from '../rate-limit.js'
import type { Door } from './visit.js'

/** Lets the provider see payer and burn from now on. Durable when it resolves; a second time changes nothing. */
export type Disclose = (nonce: ChallengeNonce, payer: Address) => Promise<void>

export type LoginDesk = {
  challenge(address: Address): { readonly message: string; readonly expiresAt: UnixSeconds }
  login(answer: { readonly message: string; readonly signature: string }): Promise<Result<IssuedToken>>
}

export type HistoryApiDeps = {
  readonly chainId: number
  readonly token: Address
  readonly treasury: Address
  readonly participants: HistorySettings['participants']
  readonly tokens: Pick<Tokens, 'read'>
  /** Absent unless both participants have a wallet. */
  readonly login: LoginDesk | undefined
  readonly books: HistoryBooks
  readonly disclose: Disclose
  readonly rateLimits: RateLimits
  readonly clock: Pick<Clock, 'now'>
}

/** What the routes share. */
export type HistoryRoutes = HistoryApiDeps & {
  readonly door: Door
  readonly network: string
  now(): UnixSeconds
  refuse(reply: FastifyReply, rejection: Rejection): FastifyReply
}
