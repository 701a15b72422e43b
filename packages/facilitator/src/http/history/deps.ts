/** What the routes of participants need, and what they share. */
import type { Address, ChallengeNonce, UnixSeconds } from '@svc-zerc20/protocol'
import type { HistorySettings } from '../../config/history-settings.js'
import type { Tokens } from '../../history/identity/tokens.js'
import type { WalletLogin } from '../../history/identity/wallet-login.js'
import type { HistoryBooks } from '../../history/questions.js'
import type { Proofs } from '../../history/statements/proofs.js'
import type { Clock } from '../../payment/ports.js'
import type { RateLimits } from '../rate-limit.js'
import type { Door, Refuse } from './door.js'

/** Lets the provider see payer and burn from now on. Durable when it resolves; a second time changes nothing. */
export type Disclose = (nonce: ChallengeNonce, payer: Address) => Promise<void>

export type HistoryApiDeps = {
  readonly chainId: number
  readonly token: Address
  readonly treasury: Address
  readonly participants: HistorySettings['participants']
  readonly tokens: Pick<Tokens, 'read'>
  /** Absent unless both participants have a wallet. */
  readonly login: WalletLogin | undefined
  readonly books: HistoryBooks
  readonly disclose: Disclose
  /** Absent without a proof issuer. */
  readonly proofs: Proofs | undefined
  readonly rateLimits: RateLimits
  readonly clock: Pick<Clock, 'now' | 'sleep'>
}

/** What the routes share. */
export type HistoryRoutes = HistoryApiDeps & {
  readonly door: Door
  readonly network: string
  now(): UnixSeconds
  readonly refuse: Refuse
}
