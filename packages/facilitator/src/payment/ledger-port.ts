/**
 * The ledger as the payment flow needs it: promises, and to whom they were made. Any store that gives these
 * guarantees can keep it. Every method may take a round trip.
 */
import type { Address, BaseUnits, ChallengeNonce, Payload, Rejection } from '@svc-zerc20/protocol'
import type {
  Accepted,
  AwaitingMint,
  Burn,
  Challenge,
  Claim,
  ClaimedPermit,
  Interrupted,
  InterruptedMint,
  LateReason,
  Mint,
  OpenClaim,
  PayerMeans,
  Payment,
  Released,
  ShallowBurns,
  SignedTransaction,
  UnmatchedBurn,
} from './records.js'

/** The right to answer "success" for one payment, once. */
export type Grant = {
  /** Whether it surely is this caller's still. To be asked right before the answer is written. */
  isHeld(): boolean
  /** The success answer reached the caller: the grant is used. */
  use(): Promise<void>
  /** The answer could not be written: the next caller may have the grant. */
  giveBack(): Promise<void>
}

/** Records of a payment that is presented. */
export type Presented = {
  readonly payment: Payment | undefined
  readonly payer?: PayerRecord
}

/** Records of a payer. */
export type PayerRecord = {
  /** Claimed permits of this payer that may still take from its balance. */
  readonly openClaims: readonly OpenClaim[]
  /** How long this payer still has to wait, because burns relayed for it failed; zero when it may go on. */
  readonly waitMs: number
}

/** Work that a crash interrupted. */
export type InterruptedWork = {
  readonly transactions: readonly Interrupted[]
  readonly shallow: readonly ShallowBurns[]
  /** Claims for which nothing was signed yet. */
  readonly unsigned: readonly ClaimedPermit[]
  /** Burns that payers made themselves, claimed and not accepted yet. */
  readonly transfers: readonly {
    readonly challenge: Challenge
    readonly payload: Payload.SelfTransferPayload
  }[]
  /** A payment that several transactions were signed for is with each of them, lowest txNonce first. */
  readonly mints: readonly InterruptedMint[]
}

/** The claims that a caller may release. */
export type SureOf = {
  /** Only one for which nothing was signed. */
  readonly unsigned?: boolean
  /** Only one by this payload. Another may have claimed meanwhile. */
  readonly identity?: Claim['identity']
}

/**
 * `forgotten`: the challenge expired and its retention ended since it was found. A rejection says why the means of a payer do not
 * suffice.
 */
export type ClaimOutcome =
  | 'claimed'
  | 'same_payload'
  | 'other_payload'
  | 'permit_nonce_in_use'
  | 'forgotten'
  | Rejection

/** A pause of issuance, with the operator's words to callers, if there are any. */
export type Pause = { readonly words?: string | undefined }

export type Ledger = {
  /**
   * Counts and inserts in one step: never more than the cap are open at once, nobody takes those that are kept for a seller,
   * and none is issued during a pause. Nothing was written unless the answer is `issued`.
   */
  issue(challenge: Challenge): Promise<'issued' | 'limit' | Pause>
  /** The operator's pause of issuance, if there is one. It outlives restarts, and holds for all daemons of the ledger. */
  pause(): Promise<Pause | undefined>
  setPause(pause: Pause | undefined): Promise<void>
  /** Takes the same time for minted and unminted payments: callers must not learn of the mint. */
  find(nonce: ChallengeNonce): Promise<Payment | undefined>
  /** The payment that a payload names, and what is known of its payer, in one round trip. */
  presented(payload: Payload.Payload): Promise<Presented>
  /**
   * Atomic: exactly one of concurrent claims on one challenge is `claimed`, and exactly one of concurrent
   * claims with one permit nonce of one payer. With `means`, a permit is claimed only if they cover it, and
   * while the payer has no open claim that they do not know to be burned; otherwise the answer is the reason.
   */
  claim(
    nonce: ChallengeNonce,
    payload: Payload.Payload,
    ticketed?: boolean,
    means?: PayerMeans,
  ): Promise<ClaimOutcome>
  ofPayer(payer: Address): Promise<PayerRecord>
  /**
   * A burn that was relayed for this payer failed on chain, at our cost: its next one waits, longer each time. Never throws: a
   * lost wait costs gas, but no payment.
   */
  burnFailed(payer: Address): Promise<void>
  /**
   * Releases a claim whose burn surely did not and will not happen: the challenge can be claimed again.
   * `kept` when nothing is claimed, or when the payment is accepted or was before a reorg: then its burn was
   * seen elsewhere. Also when the claim is not what the caller is sure of.
   */
  release(nonce: ChallengeNonce, why?: Released, sureOf?: SureOf): Promise<'released' | 'kept'>
  /** Work that was under way when the ledger was last used, before this run changed anything. */
  interrupted(): Promise<InterruptedWork>
  /**
   * Remembers the transaction that carries these claimed burns, before anyone else can see it. Without burns it
   * only uses a txNonce: the next run does not send it again.
   */
  recordSigned(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): Promise<void>
  /**
   * Idempotent: the first burn accepted for a challenge stays. `not_claimed` when nobody presented the
   * payment, or its claim was released meanwhile: then the burn buys nothing.
   */
  accept(nonce: ChallengeNonce, burn: Burn): Promise<'accepted' | 'already_accepted' | 'not_claimed'>
  /**
   * A reorg took the accepted burn away: the payment waits for a burn again and cannot be finalized until it is
   * accepted again. A used grant stays used.
   */
  demote(nonce: ChallengeNonce): Promise<'demoted' | 'not_accepted' | 'already_finalized'>
  /** A reorg put the burn of an accepted or late payment into another block, or to another leaf. */
  moveBurn(nonce: ChallengeNonce, burn: Burn): Promise<void>
  /** Demoted payments with the burn each of them lost. */
  demoted(): AsyncIterable<{ readonly challenge: Challenge; readonly burn: Burn }>
  /**
   * Accepted and late burns that are not minted yet, about oldest first; all of them, or those that are minted in batches.
   * Payments may change while the list is read, so read a payment again before acting on it. Finalized payments cost
   * nothing here.
   */
  awaitingMint(which?: { readonly inEpochs: boolean }): AsyncIterable<AwaitingMint>
  /** Remembers the transaction that mints for these payments, before anyone else can see it. */
  recordMintSigned(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): Promise<void>
  /**
   * Records the mint of a burn of the value `burned`. Idempotent: the first mint stays. `outgrown` when a
   * larger burn took the place of that one, and still awaits its mint. Throws when the payment has no burn
   * that could have been minted.
   */
  finalize(
    nonce: ChallengeNonce,
    mint: Mint,
    burned: BaseUnits,
  ): Promise<'finalized' | 'already_finalized' | 'outgrown'>
  /**
   * Remembers a burn that can buy nothing any more but is still minted to the provider, retained or not. One leaf of an
   * address is minted in whole, so only a larger one takes the place of one that is `known`. `claimed` when the challenge was
   * claimed meanwhile: the burn may still be accepted for it.
   */
  recordLate(challenge: Challenge, burn: Burn, reason: LateReason): Promise<'recorded' | 'known' | 'claimed'>
  /**
   * Remembers a transfer that covers nothing, once. `full` when the limit is reached, of this challenge or of
   * all: remembering more would let dust fill the disk.
   */
  recordUnmatched(
    nonce: ChallengeNonce,
    transfer: Pick<UnmatchedBurn, 'txHash' | 'reason'>,
  ): Promise<'recorded' | 'known' | 'full' | 'forgotten'>
  /**
   * The right to answer for an accepted payment, with the burn that paid it. Waits while another caller holds the
   * grant, or a daemon that was active before may have given it, at most `boundMs` (then `held`); `used` once an answer was written. A claim with the ticket of its offer
   * is granted only to a request with the ticket: everything in a permit payload stands in the calldata of its burn.
   */
  takeGrant(
    nonce: ChallengeNonce,
    boundMs: number,
    ticketed?: boolean,
  ): Promise<(Grant & { readonly accepted: Accepted }) | 'used' | 'held' | 'not_accepted' | 'ticket_needed'>
}
