/**
 * Every change of a payment is an event, and the journal remembers events. Applied in order they give the state of the
 * ledger, at run time as after a crash.
 */
import type { Address, BaseUnits, ChallengeNonce, Payload, UnixSeconds } from '@svc-zerc20/protocol'
import type {
  Burn,
  Challenge,
  DoneSweep,
  Finalized,
  LateReason,
  Mint,
  SignedTransaction,
  Sweep,
  Swept,
  UnmatchedBurn,
} from '../../payment/records.js'

/** The network, token and keys that a journal belongs to. Replayed against any others it would do harm. */
export type Binding = {
  readonly chainId: number
  readonly token: Address
  readonly helper?: Address
  /** Fingerprint of the seed of its addresses; absent in a journal of an older version. */
  readonly seed?: string
  /** The journal's own name. This field and those below are absent in a journal of an older version. */
  readonly id?: string
  /** How often the journal was written anew. */
  readonly generation?: number
  /** The relayer's account, and the highest nonce that it is known to have signed for or used. */
  readonly relayer?: KnownAccount
  /** The same of the account that sends mints; absent while the relayer does. */
  readonly minter?: KnownAccount
}

/** An account, and the highest nonce that it is known to have signed for or used. */
export type KnownAccount = { readonly address: Address; readonly nonce: number }

/** The payload of a claim. A permit is parsed when somebody asks for it: after a replay few permits are still needed. */
export type ClaimedPayload =
  | { readonly kind: 'permit'; read(): Payload.PermitPayload }
  | { readonly kind: 'self-transfer'; read(): Payload.SelfTransferPayload }

export type LedgerEvent =
  | { readonly event: 'ledger_bound'; readonly binding: Binding }
  | { readonly event: 'challenge_issued'; readonly challenge: Challenge }
  | {
      readonly event: 'payment_claimed'
      readonly nonce: ChallengeNonce
      /** Stored, because hashing every payload again would take most of a start. */
      readonly identity: string
      readonly ticketed: boolean
      readonly payload: ClaimedPayload
    }
  /** A transaction with burns is signed. The relayer may send it once this record is durable. */
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
  /** A reorg took the accepted burn away. */
  | { readonly event: 'payment_demoted'; readonly nonce: ChallengeNonce }
  /** A reorg put the burn into another block, or to another leaf. */
  | { readonly event: 'burn_moved'; readonly nonce: ChallengeNonce; readonly burn: Burn }
  /** A transaction with mints is signed. The relayer may send it once this record is durable. */
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
  /** A burn that buys nothing. A larger burn to the same address replaces it, and is minted for the difference. */
  | {
      readonly event: 'burn_late'
      readonly challenge: Challenge
      readonly burn: Burn
      readonly reason?: Exclude<LateReason, 'late'>
    }
  | ({ readonly event: 'burn_unmatched'; readonly nonce: ChallengeNonce } & UnmatchedBurn)
  | { readonly event: 'grant_used'; readonly nonce: ChallengeNonce }
  /** A whole accepted payment in one record. A journal that is written anew keeps accepted payments in this form. */
  | {
      readonly event: 'payment_recorded'
      readonly challenge: Challenge
      readonly identity: string
      readonly ticketed: boolean
      readonly burn: Burn
      readonly at: UnixSeconds
      readonly granted: boolean
      readonly finalized?: Finalized
      readonly swept?: true
    }
  /** The transfer of a sweep is signed. The treasury key may send it once this record is durable. */
  | ({ readonly event: 'sweep_signed'; readonly transaction: SignedTransaction } & Sweep)
  /** The sweep of this txNonce ended: deep on the chain, or, without a hash, for good without effect. */
  | ({
      readonly event: 'sweep_ended'
      readonly txNonce: number
      readonly at: UnixSeconds
    } & Partial<Pick<DoneSweep, 'txHash' | 'blockNumber'>>)
  /**
   * The treasury sent tokens to a recipient of fees, and no sweep in the journal is known to have done it. The transfer
   * counts as a sweep of these payments.
   */
  | ({ readonly event: 'sweep_found' } & Sweep & Pick<DoneSweep, 'txHash' | 'blockNumber' | 'at'>)
  /**
   * The sum of all sweeps that are done. A journal that is written anew has one of these, with the swept payments that have
   * no record of their own.
   */
  | ({ readonly event: 'fees_swept'; readonly nonces: readonly ChallengeNonce[] } & Swept)
  /** A transaction that distributes the splitter's balance is signed. */
  | { readonly event: 'distribution_signed'; readonly transaction: SignedTransaction }
  | { readonly event: 'distribution_ended'; readonly txNonce: number }

export const claimedPayload = (payload: Payload.Payload): ClaimedPayload =>
  payload.kind === 'permit'
    ? { kind: payload.kind, read: () => payload }
    : { kind: payload.kind, read: () => payload }
