/**
 * Every change of a payment is an event, and the journal remembers events. Applied in order they give the state of the
 * ledger, at run time as after a crash.
 */
import type { Address, BaseUnits, ChallengeNonce, Payload, UnixSeconds } from '@svc-zerc20/protocol'
import type {
  Burn,
  Challenge,
  Finalized,
  LateReason,
  Mint,
  SignedTransaction,
  UnmatchedBurn,
} from '../../payment/records.js'

/** What a journal speaks of: replayed against anything else it would be worse than none. */
export type Binding = {
  readonly chainId: number
  readonly token: Address
  readonly helper?: Address
  /** Fingerprint of the seed of its addresses; absent in a journal of an older version. */
  readonly seed?: string
  /** Names the journal; absent, as everything below, in one of an older version. */
  readonly id?: string
  /** How often it was written anew. */
  readonly generation?: number
  /** The relayer's account, and the highest nonce that it is known to have signed for or used. */
  readonly relayer?: { readonly address: Address; readonly nonce: number }
}

/** A permit is read when somebody asks: hardly any is still wanted when the end of a journal is reached. */
export type ClaimedPayload =
  | { readonly kind: 'permit'; read(): Payload.PermitPayload }
  | { readonly kind: 'self-transfer'; read(): Payload.SelfTransferPayload }

export type LedgerEvent =
  | { readonly event: 'ledger_bound'; readonly binding: Binding }
  | { readonly event: 'challenge_issued'; readonly challenge: Challenge }
  | {
      readonly event: 'payment_claimed'
      readonly nonce: ChallengeNonce
      /** Written down, because hashing every payload again would take most of a start. */
      readonly identity: string
      readonly ticketed: boolean
      readonly payload: ClaimedPayload
    }
  /** A relayed transaction exists; it may be broadcast once this is durable. */
  | {
      readonly event: 'burn_signed'
      readonly nonces: readonly ChallengeNonce[]
      readonly transaction: SignedTransaction
    }
  | { readonly event: 'claim_released'; readonly nonce: ChallengeNonce }
  | {
      readonly event: 'payment_accepted'
      readonly nonce: ChallengeNonce
      readonly burn: Burn
      readonly at: UnixSeconds
    }
  /** A reorg took the burn away. */
  | { readonly event: 'payment_demoted'; readonly nonce: ChallengeNonce }
  /** A reorg put it elsewhere. */
  | { readonly event: 'burn_moved'; readonly nonce: ChallengeNonce; readonly burn: Burn }
  /** A transaction that mints exists; it may be broadcast once this is durable. */
  | {
      readonly event: 'mint_signed'
      readonly nonces: readonly ChallengeNonce[]
      readonly transaction: SignedTransaction
    }
  | {
      readonly event: 'payment_finalized'
      readonly nonce: ChallengeNonce
      readonly mint: Mint
      readonly at: UnixSeconds
      /** The value of the burn that was minted; absent in a journal of an older version. */
      readonly burned?: BaseUnits
    }
  /** A burn that buys nothing. A larger one takes its place, and is minted for the difference. */
  | {
      readonly event: 'burn_late'
      readonly challenge: Challenge
      readonly burn: Burn
      readonly reason?: Exclude<LateReason, 'late'>
    }
  | ({ readonly event: 'burn_unmatched'; readonly nonce: ChallengeNonce } & UnmatchedBurn)
  | { readonly event: 'grant_used'; readonly nonce: ChallengeNonce }
  /** A whole accepted payment in one record: what the journal keeps of it when it is written anew. */
  | {
      readonly event: 'payment_recorded'
      readonly challenge: Challenge
      readonly identity: string
      readonly ticketed: boolean
      readonly burn: Burn
      readonly at: UnixSeconds
      readonly granted: boolean
      readonly finalized?: Finalized
    }

export const claimedPayload = (payload: Payload.Payload): ClaimedPayload =>
  payload.kind === 'permit'
    ? { kind: payload.kind, read: () => payload }
    : { kind: payload.kind, read: () => payload }
