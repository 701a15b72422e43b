/**
 * What the payment flow needs from the outside, with the guarantees it relies on.
 * Adapters implement these; the flow imports nothing else.
 */
import type {
  Address,
  BaseUnits,
  ChallengeNonce,
  FacilitatorApi,
  Payload,
  Rejection,
  TxHash,
  UnixSeconds,
} from '@svc-zerc20/protocol'

export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or earlier when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** What this facilitator serves; fixed for its lifetime. */
export type Deployment = {
  readonly chainId: number
  readonly token: Address
  readonly tokenName: string
  readonly treasury: Address
  /** The permit-burner helper; absent when the gasless path is not offered. */
  readonly helper?: Address
}

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
  /** The mint destination is fixed when the address is derived: a later change of config does not move it. */
  readonly treasury: Address
  /** A block at or before the first one that can hold the burn. */
  readonly issuedAtBlock: bigint
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
 * Why a burn buys nothing and is only minted. `late`: mined, or presented, after expiry. `unpresented`: mined in time,
 * and nobody presented it. `second`: larger than the one that counts, so that the difference can be minted. `split`
 * and `underpaid`: less than the amount, with and without other transfers that make up for it. `unrecorded`: found on
 * the chain, and no record tells what it bought.
 */
export const lateReasons = ['late', 'unpresented', 'second', 'split', 'underpaid', 'unrecorded'] as const
export type LateReason = (typeof lateReasons)[number]

/** A transfer to a burn address that covers nothing: too little, or only together with others. */
export type UnmatchedBurn = {
  readonly txHash: TxHash
  /** A code of the table of reasons. */
  readonly reason: string
  readonly at: UnixSeconds
}

export type PaymentState = 'open' | 'expired' | 'accepted' | 'finalized'

/** Without its mint: what requests are answered from. */
export type Payment = {
  readonly challenge: Challenge
  /** By the one payload that is being, or was, burned for this challenge. */
  readonly claim?: {
    readonly identity: string
    /** It was presented with the ticket of its offer, and so must be whoever asks again. */
    readonly ticketed: boolean
    readonly txHash?: TxHash
  }
  readonly accepted?: Accepted
  /** It was accepted by this burn, which a reorg then took away; a new burn makes it accepted again. */
  readonly demoted?: Accepted
}

export type Accepted = { readonly burn: Burn; readonly at: UnixSeconds }

export type Finalized = { readonly mint: Mint; readonly at: UnixSeconds }

/** A claimed permit whose burn has not ended: what it may still take from its payer. */
export type OpenClaim = { readonly challenge: Challenge; readonly permitNonce: bigint }

/** What a payer has to pay with, all of one block. */
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
}

/** A transaction of the relayer: after a crash the same bytes are sent again. */
export type SignedTransaction = {
  readonly nonce: number
  readonly hash: TxHash
  readonly raw: `0x${string}`
}

/** Burns that a crash interrupted: the signed forms of one transaction, and what it carries. */
export type Interrupted = {
  readonly transactions: readonly SignedTransaction[]
  readonly items: readonly { readonly challenge: Challenge; readonly payload: Payload.PermitPayload }[]
  /** Others that it carries and that are accepted already: only a reorg concerns them. */
  readonly accepted?: Interrupted['items']
}

/** Accepted burns of an earlier run that a reorg could still take back, and the block that holds them. */
export type ShallowBurns = Pick<Interrupted, 'transactions' | 'items'> & {
  readonly block: Pick<Burn, 'blockNumber' | 'blockHash'>
}

/** Mints that a crash interrupted: the signed forms of one transaction, and the payments it is for. */
export type InterruptedMint = {
  readonly transactions: readonly SignedTransaction[]
  readonly nonces: readonly ChallengeNonce[]
}

/** The right to answer "success" for one payment, once. */
export type Grant = {
  /** The success answer reached the caller: the grant is used. */
  use(): Promise<void>
  /** The answer could not be written: the next caller may have the grant. */
  giveBack(): Promise<void>
}

export type Ledger = {
  /** Whether `issue` would refuse right now: asked before an address is spent on a challenge. */
  isFull(key?: string): Promise<boolean>
  /**
   * Counts and inserts in one step: never more than the cap are open at once, and of those a caller has no more than
   * its share. `limit` means that nothing was written.
   */
  issue(challenge: Challenge, key?: string): Promise<'issued' | 'limit'>
  /** As fast for a payment that was minted as for one that was not: callers must not learn of the mint. */
  find(nonce: ChallengeNonce): Promise<Payment | undefined>
  /**
   * Atomic: of concurrent claims on one challenge exactly one caller sees `claimed`, and of concurrent
   * claims with one permit nonce of one payer exactly one is `claimed`. With `means`, a permit is claimed only
   * while they cover it beside the payer's open claims of this very moment; otherwise the answer is why not.
   * `forgotten` when the challenge expired and its retention ended since it was found.
   */
  claim(
    nonce: ChallengeNonce,
    payload: Payload.Payload,
    ticketed?: boolean,
    means?: PayerMeans,
  ): Promise<'claimed' | 'same_payload' | 'other_payload' | 'permit_nonce_in_use' | 'forgotten' | Rejection>
  /** What this payer's claimed permits may still take from it. */
  openClaims(payer: Address): Promise<readonly OpenClaim[]>
  /**
   * The burn surely did not and will not happen: the challenge can be claimed again. `kept` when nothing is claimed,
   * or when the payment is accepted or was before a reorg: then somebody else saw its burn.
   */
  release(nonce: ChallengeNonce): Promise<'released' | 'kept'>
  /** What was under way when the last run of the daemon ended, before this one changed anything. */
  interrupted(): {
    readonly transactions: readonly Interrupted[]
    readonly shallow: readonly ShallowBurns[]
    /** Claims for which nothing was signed yet. */
    readonly unsigned: Interrupted['items']
    /** Burns that payers made themselves, claimed and not accepted yet. */
    readonly transfers: readonly {
      readonly challenge: Challenge
      readonly payload: Payload.SelfTransferPayload
    }[]
    /** A payment that several transactions were signed for is with each of them, oldest nonce first. */
    readonly mints: readonly InterruptedMint[]
  }
  /** Remembers the transaction that carries these claimed burns, before anyone else can see it. */
  recordSigned(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): Promise<void>
  /**
   * Idempotent: the first burn accepted for a challenge stays. `not_claimed` when nobody presented it, or its claim was
   * released meanwhile: it buys nothing.
   */
  accept(nonce: ChallengeNonce, burn: Burn): Promise<'accepted' | 'already_accepted' | 'not_claimed'>
  /**
   * A reorg took the accepted burn away: the payment waits for a burn again and cannot be finalized until it is
   * accepted anew. A used grant stays used.
   */
  demote(nonce: ChallengeNonce): Promise<'demoted' | 'not_accepted' | 'already_finalized'>
  /** A reorg put the burn of an accepted or late payment into another block, or to another leaf. */
  moveBurn(nonce: ChallengeNonce, burn: Burn): Promise<void>
  /** Demoted payments with the burn each of them lost. */
  demoted(): AsyncIterable<{ readonly challenge: Challenge; readonly burn: Burn }>
  /**
   * Burns that are not minted yet, accepted and late ones, about oldest first. Payments may change while it is read:
   * whoever acts on one of them asks again. Costs nothing for payments that are finalized.
   */
  awaitingMint(): AsyncIterable<AwaitingMint>
  /** Remembers the transaction that mints for these payments, before anyone else can see it. */
  recordMintSigned(transaction: SignedTransaction, nonces: readonly ChallengeNonce[]): Promise<void>
  /**
   * The mint of a burn of the value `burned`. Idempotent: the first mint stays. `outgrown` when a larger burn took the
   * place of that one, and still awaits its mint. Throws when the payment has no burn that could have been minted.
   */
  finalize(
    nonce: ChallengeNonce,
    mint: Mint,
    burned: BaseUnits,
  ): Promise<'finalized' | 'already_finalized' | 'outgrown'>
  /**
   * Remembers a burn that can buy nothing any more but is still minted to the provider, retained or not. One leaf of an
   * address is minted in whole, so only a larger one takes the place of one that is `known`.
   */
  recordLate(challenge: Challenge, burn: Burn, reason: LateReason): Promise<'recorded' | 'known'>
  /**
   * Remembers a transfer that covers nothing, once. `full` when there are so many already, of this challenge or of
   * all, that remembering more would let dust fill the disk.
   */
  recordUnmatched(
    nonce: ChallengeNonce,
    transfer: Pick<UnmatchedBurn, 'txHash' | 'reason'>,
  ): Promise<'recorded' | 'known' | 'full' | 'forgotten'>
  /**
   * Waits while another caller holds the grant, at most `boundMs` (then `held`); `used` once its answer was
   * written.
   */
  takeGrant(nonce: ChallengeNonce, boundMs: number): Promise<Grant | 'used' | 'held'>
  grantIsUsed(nonce: ChallengeNonce): Promise<boolean>
}

/** One block's view of everything a permit payment depends on. */
export type PermitChainFacts = {
  readonly timestamp: UnixSeconds
  readonly permitNonce: bigint
  readonly balance: bigint
  readonly allowance: bigint
  readonly executed: boolean
  readonly payerIsContract: boolean
}

/** A transfer log of the token in the transaction a payer named. */
export type TransferLog = {
  readonly leafIndex: bigint
  readonly from: Address
  readonly to: Address
  readonly value: BaseUnits
}

export type SelfTransferChainFacts = {
  readonly timestamp: UnixSeconds
  /** As far as a block backs it; not above the burn's own when nobody asked how deep that is. */
  readonly headNumber: bigint
  readonly burnAddressBalance: bigint
  readonly receipt?: {
    readonly succeeded: boolean
    readonly blockNumber: bigint
    readonly blockHash: string
    readonly transfers: readonly TransferLog[]
  }
}

/** Reads the chain. Every method is one JSON-RPC round trip and throws `SvcError` when it fails. */
export type Chain = {
  permitFacts(challenge: Challenge, payer: Address): Promise<PermitChainFacts>
  /** Of challenges of one payer, in order and all of one block; of the first ones, when there are very many. */
  permitFactsTogether(challenges: readonly Challenge[], payer: Address): Promise<readonly PermitChainFacts[]>
  /** Two round trips when the burn needs more than one confirmation: then the head must be there, too. */
  selfTransferFacts(txHash: TxHash, payTo: Address, confirmations: number): Promise<SelfTransferChainFacts>
  /** Where the helper's replay ledger holds this burn, by its event; undefined when the node shows none. */
  findExecutedBurn(challenge: Challenge, payer: Address): Promise<Burn | undefined>
  /** The newest block the node was seen to have, give or take a few; no round trip. */
  headNumber(): bigint
}

/**
 * A permit payload is public once its burn is broadcast. The ticket of an offer is not: it tells whoever was
 * offered the resource from whoever read the chain.
 */
export type Tickets = {
  of(nonce: ChallengeNonce): string
  /** How long it takes tells nothing about how much of a guess is right. */
  matches(nonce: ChallengeNonce, given: string): boolean
}

export type Signers = {
  /** Undefined when the signature has no canonical form. */
  recoverPermit(payload: Payload.PermitPayload): Promise<Address | undefined>
  recoverBurnAuthorization(challenge: Challenge, payload: Payload.PermitPayload): Promise<Address | undefined>
}

export type BurnOutcome =
  | { readonly kind: 'burned'; readonly burn: Burn }
  | {
      readonly kind: 'failed'
      readonly rejection: Rejection
      readonly txHash?: TxHash
      /** Its transaction was mined and this burn alone did nothing: gas was spent on what only its payer can spoil. */
      readonly spentGas?: true
    }

export type Burner = {
  /**
   * Relays one burn. Resolves when it is confirmed on chain or its transaction failed; whatever happens in
   * between, the on-chain replay ledger keeps it to one execution. The transaction is recorded in the ledger
   * before anyone can see it, and again when a fee bump changes its hash.
   */
  burn(challenge: Challenge, payload: Payload.PermitPayload): Promise<BurnOutcome>
  /** Goes on with a transaction of an earlier run; one outcome per item, in order. */
  resume(interrupted: Interrupted): readonly Promise<BurnOutcome>[]
  /** From now on a reorg that takes these back is told, and answered, as if this run had relayed them. */
  watch(burns: ShallowBurns): void
  /** The burn that the on-chain replay ledger already holds; nothing is broadcast. */
  find(challenge: Challenge, payload: Payload.PermitPayload): Promise<BurnOutcome>
  /**
   * A reorg took a burn back after it had ended; `outcome` is how it ends this time. `gone`: no block holds it, and
   * it is sent again. `moved`: its transaction is in another block.
   */
  onReorged(
    listener: (
      item: Interrupted['items'][number],
      outcome: Promise<BurnOutcome>,
      how: 'gone' | 'moved',
    ) => void,
  ): void
}

/** A proof-gated mint, ready to be sent. */
export type MintCall = {
  readonly to: Address
  readonly data: `0x${string}`
  /** Ceiling: what is not used is not paid. */
  readonly gas: bigint
  /** The payments it finalizes. */
  readonly nonces: readonly ChallengeNonce[]
}

export type MintOutcome =
  /** As many blocks deep as a burn must be. */
  | { readonly kind: 'mined'; readonly mint: Mint }
  | {
      readonly kind: 'failed'
      /**
       * `would_revert`: the chain refuses it now, nothing was sent. `reverted`: it was mined and did nothing.
       * `displaced`: its nonce was used otherwise. `unfunded`: the relayer must be funded first. `unavailable`:
       * the node, the disk or the queue refused before anything was sent, or the receipt makes no sense.
       */
      readonly why: 'would_revert' | 'reverted' | 'displaced' | 'unfunded' | 'unavailable'
      /** Revert data of the contract, where there is any. */
      readonly revert?: `0x${string}`
      readonly txHash?: TxHash
      readonly err?: unknown
    }

export type Minter = {
  /**
   * Sends one mint and resolves when it is confirmed or surely did not happen. While a mint of any of its
   * payments is under way, also one of an earlier run, that one's outcome is the answer and nothing is sent. The
   * transaction is recorded before anyone can see it; burns go before it.
   */
  mint(call: MintCall): Promise<MintOutcome>
  /** Goes on with a mint that an earlier run signed; before the relayer assigns new nonces. */
  resume(interrupted: InterruptedMint): Promise<MintOutcome>
  isUnderWay(nonce: ChallengeNonce): boolean
}

export type ReadyAddress = {
  readonly challengeNonce: ChallengeNonce
  readonly payTo: Address
  readonly powNonce: number
}

/** Who asks for a challenge. */
export type Asker = {
  /** What its share of addresses and open challenges is counted by. */
  readonly key: string
  /** Aborted when it hung up, so that nobody would hear the answer. */
  readonly gone: AbortSignal
}

/** One-time burn addresses; an address is handed out once. */
export type AddressSource = {
  /** Undefined: none was ready for this caller in time, or it hung up. */
  take(waitMs: number, asker: Asker): Promise<ReadyAddress | undefined>
  /** For an address that nobody else has seen and that is written nowhere. */
  giveBack(address: ReadyAddress, asker: Asker): void
}

/** Tells the operator; never throws and never carries secrets or bodies. */
export type Report = (event: PaymentEvent) => void

export type PaymentEvent =
  | { readonly event: 'challenge.issued'; readonly challengeNonce: string; readonly amount: bigint }
  | { readonly event: 'payment.accepted'; readonly challengeNonce: string; readonly txHash: string }
  | { readonly event: 'burn.broadcast'; readonly challengeNonce: string; readonly txHash: string }
  | { readonly event: 'burn.resumed'; readonly challengeNonce: string }
  | { readonly event: 'burn.failed'; readonly challengeNonce: string; readonly reason: string }
  /** How the burn ended is not known here: the claim stays until the same payload is sent again. */
  | { readonly event: 'burn.interrupted'; readonly challengeNonce: string; readonly err: unknown }
  /** A transfer to payTo that covers nothing: too little, or only together with others. */
  | {
      readonly event: 'burn.unmatched'
      readonly challengeNonce: string
      readonly txHash: string
      readonly reason: string
    }
  | { readonly event: 'burn.late'; readonly challengeNonce: string; readonly txHash: string }
  /** A burn that was not late and buys nothing either: it is minted all the same. */
  | {
      readonly event: 'burn.found'
      readonly challengeNonce: string
      readonly txHash: string
      readonly value: bigint
      readonly reason: string
    }
  /** A reorg took back a burn that had been accepted. */
  | { readonly event: 'burn.reorged'; readonly challengeNonce: string }
  /** A burn that a reorg took back cannot be executed any more: what it bought was not paid for. */
  | { readonly event: 'burn.lost'; readonly challengeNonce: string; readonly reason: string }
  | { readonly event: 'issuance.paused' }
  | { readonly event: 'issuance.resumed' }

export type SettleAnswer = {
  readonly response: FacilitatorApi.SettleResponse
  /** Present with a success: the caller uses it once the answer is written. */
  readonly grant?: Grant
}
