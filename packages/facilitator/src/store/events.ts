/**
 * Every change of a payment is an event. Events are what the journal remembers and what a history shows; applied in order
 * they give the rows of the database, at run time as after a crash.
 */
import type { Address, BaseUnits, ChallengeNonce, Payload } from '@svc-zerc20/protocol'
import type {
  Burn,
  Challenge,
  DoneSweep,
  LateReason,
  Mint,
  Released,
  SignedBy,
  SignedTransaction,
  Sweep,
  UnmatchedBurn,
} from '../payment/records.js'

/** The network, token and keys that a ledger belongs to. Used with any others it would do harm. */
export type Binding = {
  readonly chainId: number
  readonly token: Address
  readonly helper?: Address
  /** Fingerprint of the seed of its addresses. */
  readonly seed?: string
}

/** An account that signs, and the highest txNonce that it is known to have signed for or used. */
export type KnownAccount = { readonly address: Address; readonly txNonce: number }
export type AccountName = 'relayer' | 'minter'

type Named = { readonly challengeNonce: ChallengeNonce }
type Signed = { readonly challengeNonces: readonly ChallengeNonce[]; readonly transaction: SignedTransaction }

export type LedgerEvent =
  | { readonly event: 'ledger_bound'; readonly binding: Binding }
  | { readonly event: 'account_bound'; readonly name: AccountName; readonly account: KnownAccount }
  | { readonly event: 'challenge_issued'; readonly challenge: Challenge }
  | ({
      readonly event: 'payment_claimed'
      readonly identity: string
      readonly ticketed: boolean
      readonly payload: Payload.Payload
    } & Named)
  /** A transaction with burns is signed. The relayer may send it once this event is durable. */
  | ({ readonly event: 'burn_signed' } & Signed)
  | ({ readonly event: 'claim_released'; readonly why?: Released } & Named)
  | ({ readonly event: 'payment_accepted'; readonly burn: Burn } & Named)
  /** A reorg took the accepted burn away. */
  | ({ readonly event: 'payment_demoted' } & Named)
  /** A reorg put the burn into another block, or to another leaf. */
  | ({ readonly event: 'burn_moved'; readonly of: BurnRole; readonly burn: Burn } & Named)
  /** A transaction with mints is signed. */
  | ({ readonly event: 'mint_signed' } & Signed)
  /** `burned` is the value of the burn that was minted. */
  | ({
      readonly event: 'payment_finalized'
      readonly of: BurnRole
      readonly mint: Mint
      readonly burned: BaseUnits
    } & Named)
  /** A burn that buys nothing. A larger burn to the same address replaces it, and is minted for the difference. */
  | {
      readonly event: 'burn_late'
      readonly challenge: Challenge
      readonly burn: Burn
      readonly reason: LateReason
    }
  | ({ readonly event: 'burn_unmatched' } & Named & Omit<UnmatchedBurn, 'at'>)
  /** A batch counts a transfer to the address of this payment before its payer has presented it. */
  | ({
      readonly event: 'transfer_counted'
      readonly payTo: Address
      readonly leafIndex: bigint
    } & Named)
  | ({ readonly event: 'grant_used' } & Named)
  /** The payer, who burned then, lets the provider see it. */
  | ({ readonly event: 'payment_disclosed'; readonly payer: Address } & Named)
  /** The transfer of a sweep is signed. The treasury key may send it once this event is durable. */
  | ({ readonly event: 'sweep_signed'; readonly transaction: SignedTransaction } & Sweep)
  /** The sweep of this txNonce ended: deep on the chain, or, without a hash, for good without effect. */
  | ({ readonly event: 'sweep_ended' } & SignedBy & Partial<Pick<DoneSweep, 'txHash' | 'blockNumber'>>)
  /** The treasury sent tokens to a recipient of fees, and no known sweep did it. It counts as a sweep of these payments. */
  | ({ readonly event: 'sweep_found' } & Sweep & Pick<DoneSweep, 'txHash' | 'blockNumber'>)
  /** A switch of the operator. */
  | { readonly event: 'setting_changed'; readonly name: string; readonly setting: unknown }

/** The burn of a payment that an event speaks of: the one that bought something, or the late one. */
export type BurnRole = 'accepted' | 'late'

export type EventName = LedgerEvent['event']
export type EventNamed<Name extends EventName> = Extract<LedgerEvent, { event: Name }>
