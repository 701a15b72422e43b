/** The records of a payment: everything known of it, in whichever store. */
import type {
  Address,
  BaseUnits,
  ChallengeNonce,
  Payload,
  Rejection,
  TxHash,
  UnixSeconds,
} from '@svc-zerc20/protocol'

/** An issued challenge: the facilitator's own record that every request is compared with. */
export type Challenge = {
  readonly nonce: ChallengeNonce
  readonly payTo: Address
  readonly amount: BaseUnits
  readonly listPrice: BaseUnits
  readonly issuedAt: UnixSeconds
  readonly expiresAt: UnixSeconds
  /** Bound of the permit and burn authorization; present with the gasless path. */
  readonly deadline?: UnixSeconds
  /** With the seed and the nonce, everything needed to derive the burn secret again. */
  readonly powNonce: number
  /**
   * The epoch that the address was derived for: it is minted in a batch with the others of that epoch. Absent for an
   * address that is minted by its own proof.
   */
  readonly epoch?: AddressEpoch
  /** The mint destination is fixed when the address is derived: a later change of config does not move it. */
  readonly treasury: Address
  /** A block at or before the first one that can hold the burn. */
  readonly issuedAtBlock: bigint
  /** Name of the seller whose token asked for it. Absent for a caller without one. */
  readonly seller?: string
  /** Absent when the facilitator took no fee. */
  readonly fee?: Fee
}

/** The epoch of addresses that are minted together. They have one treasury, too. */
export type AddressEpoch = {
  /** The id of the ledger that made the address. Another ledger with the same treasury has its own epochs. */
  readonly ledger: string
  /** The unix second at which the epoch began. */
  readonly start: number
}

/** The facilitator's fee of one payment, fixed when its challenge is issued: a later change of config does not change it. */
export type Fee = {
  /** Part of the challenge's amount. The rest of the amount is the provider's. */
  readonly amount: BaseUnits
  readonly bps: number
  /** Who bears the fee: the payer on top of the list price, or the provider out of it. */
  readonly chargeTo: 'payer' | 'provider'
  /** Gets the fee by a sweep from the treasury. Absent in split mode, where the splitter pays it. */
  readonly recipient?: Address
}

/** The transfer that paid a challenge, as the chain recorded it. */
export type Burn = {
  readonly txHash: TxHash
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly leafIndex: bigint
  readonly from: Address
  readonly value: BaseUnits
}

/** The mint that brought a burn to the provider, as the chain recorded it. */
export type Mint = {
  /** Absent when the verifier says that it is minted, and nobody here knows by which transaction. */
  readonly txHash?: TxHash
  readonly blockNumber?: bigint
  /** Less than the burn when a part of it had been minted before. */
  readonly value: BaseUnits
}

/**
 * Why a burn buys nothing and is only minted.
 * - `late`: mined, or presented, after expiry
 * - `unpresented`: mined in time, but nobody presented it
 * - `split` and `underpaid`: less than the amount, with and without other transfers that make up for it
 * - `unrecorded`: found on the chain, but no record tells what it bought
 */
export const lateReasons = ['late', 'unpresented', 'split', 'underpaid', 'unrecorded'] as const
export type LateReason = (typeof lateReasons)[number]

/** A transfer to a burn address that covers nothing: too little, or only together with others. */
export type UnmatchedBurn = {
  readonly txHash: TxHash
  /** A code of the table of reasons. */
  readonly reason: string
  readonly at: UnixSeconds
}

export type Phase = 'open' | 'expired' | 'accepted' | 'finalized'

/** A payment without its mint. Requests are answered from this. */
export type Payment = {
  readonly challenge: Challenge
  /** The claim of the one payload that is being, or was, burned for this challenge. */
  readonly claim?: Claim
  readonly accepted?: Accepted
  /** The one success answer was written. */
  readonly granted: boolean
  /** The burn that the payment was accepted by, until a reorg took it away; a new burn makes it accepted again. */
  readonly demoted?: Accepted
  readonly late?: LateBurn
  /** Transfers to the payment's address that cover nothing. */
  readonly unmatched?: readonly UnmatchedBurn[]
  /** The payer lets the provider see it since then. */
  readonly disclosedAt?: UnixSeconds
}

/** Why a claim ended without a burn. */
export type Released = Omit<Rejection, 'ok'> & { readonly txHash?: TxHash | undefined }

export type Claim = {
  readonly identity: string
  /** The payload was presented with the ticket of its offer. Repeated requests need the ticket, too. */
  readonly ticketed: boolean
  /** The burn's transaction, as far as one is known. */
  readonly txHash?: TxHash
  /** Of a permit: whose it is, and its nonce. */
  readonly permit?: { readonly payer: Address; readonly permitNonce: bigint }
}

/** A burn that buys nothing and is only minted. */
export type LateBurn = { readonly burn: Burn; readonly reason: LateReason; readonly at: UnixSeconds }

/** The mints of a payment. No public answer tells anything of them. */
export type Minted = {
  /** The mint of the accepted burn; of the late burn where none was accepted. */
  readonly finalized?: Finalized
  /** The mint of the late burn beside an accepted one. */
  readonly lateMinted?: Finalized
  /** Mints of late burns that a larger one has replaced since. The larger one is minted for the difference. */
  readonly mintedBefore?: readonly Finalized[]
  /** A sweep took the fee. */
  readonly swept?: true
}

/** Everything known of a payment, for its participants and the operator. */
export type RecordedPayment = Payment & Minted

export type Accepted = { readonly burn: Burn; readonly at: UnixSeconds }

export type Finalized = { readonly mint: Mint; readonly at: UnixSeconds }

/** A claimed permit whose burn has not ended: it may still take its amount from its payer. */
export type OpenClaim = { readonly challenge: Challenge; readonly permitNonce: bigint }

/** The means of a payer, all read from one block. */
export type PayerMeans = {
  readonly timestamp: UnixSeconds
  readonly permitNonce: bigint
  readonly balance: bigint
  readonly allowance: bigint
  /** Burns of open claims that this block already holds. */
  readonly executed: ReadonlySet<ChallengeNonce>
}

/** A burn whose value is not the provider's yet. */
export type AwaitingMint = {
  readonly challenge: Challenge
  readonly burn: Burn
  /** Absent for a burn that came too late to buy anything. */
  readonly acceptedAt?: UnixSeconds
  /** When such a burn was noticed. */
  readonly lateAt?: UnixSeconds
}

/** The purpose of a transaction. Callers wait for burns. Nobody waits for anything else, so nothing else goes first. */
export const purposes = ['burn', 'mint', 'sweep', 'distribution'] as const
export type Purpose = (typeof purposes)[number]

/** A transaction that is signed and has not ended. */
export type QueuedTransaction = {
  readonly txNonce: number
  readonly purpose: Purpose
  /** The hash of its newest signed version. */
  readonly txHash: TxHash
  /** How often it was signed: once, and again for each higher price. */
  readonly versions: number
  readonly signedAtMs: number
  /** The node said that the key cannot pay for it. */
  readonly unfunded: boolean
}

/** A signed transaction: after a crash the same bytes are sent again. */
export type SignedTransaction = {
  readonly txNonce: number
  readonly hash: TxHash
  readonly raw: `0x${string}`
  /** The account that signed it. */
  readonly from: Address
  /** It is another version of one that is out under its txNonce. Without it, whatever was recorded for that was never sent. */
  readonly isReplacement?: true
}

/** Names a transaction in all its signed versions. */
export type SignedBy = Pick<SignedTransaction, 'txNonce' | 'from'>

/** A permit that claimed its challenge: all that its burn needs. */
export type ClaimedPermit = { readonly challenge: Challenge; readonly payload: Payload.PermitPayload }

/** Burns that a crash interrupted: the signed versions of one transaction, and what it carries. */
export type Interrupted = {
  readonly transactions: readonly SignedTransaction[]
  readonly items: readonly ClaimedPermit[]
  /** Other burns of the transaction that are accepted already. Only a reorg concerns them. */
  readonly accepted?: readonly ClaimedPermit[]
}

/** Accepted burns of an earlier run that a reorg could still take back, and the block that holds them. */
export type ShallowBurns = Pick<Interrupted, 'transactions' | 'items'> & {
  readonly block: Pick<Burn, 'blockNumber' | 'blockHash'>
}

/** Mints that a crash interrupted: the signed versions of one transaction, and the payments it is for. */
export type InterruptedMint = {
  readonly transactions: readonly SignedTransaction[]
  readonly nonces: readonly ChallengeNonce[]
}

/** The fees of many payments in one transfer from the treasury to one recipient. */
export type Sweep = {
  readonly recipient: Address
  /** The sum of the fees. */
  readonly amount: BaseUnits
  readonly challengeNonces: readonly ChallengeNonce[]
}

/** A sweep that is signed and has not ended, with the signed versions of its one transaction. */
export type OpenSweep = Sweep & { readonly transactions: readonly SignedTransaction[] }

/** A sweep that is deep on the chain. */
export type DoneSweep = Omit<Sweep, 'challengeNonces'> & {
  readonly payments: number
  readonly txHash: TxHash
  readonly blockNumber: bigint
  readonly at: UnixSeconds
}

/** All sweeps that are deep on the chain. */
export type Swept = {
  readonly sweeps: number
  readonly payments: number
  readonly amount: BaseUnits
  readonly last?: DoneSweep
}

/** Fields that a payment is listed by: for its participants, for the operator, and in the columns of the store. */
type Listed = Pick<Payment, 'challenge' | 'accepted' | 'late'>

/** When its money came, and before that when it was issued. */
export const timeOf = ({ challenge, accepted, late }: Listed): UnixSeconds =>
  accepted?.at ?? late?.at ?? challenge.issuedAt

/** The value that came, and before that the one that was asked for. */
export const amountOf = ({ challenge, accepted, late }: Listed): BaseUnits =>
  accepted?.burn.value ?? late?.burn.value ?? challenge.amount

/** The account whose tokens were burned. Undefined before a burn is known. */
export const payerOf = ({ accepted, late }: Pick<Payment, 'accepted' | 'late'>): Address | undefined =>
  accepted?.burn.from ?? late?.burn.from
