/**
 * The payment flow's needs from the outside, with the guarantees it relies on; the ledger is in `ledger-port.ts`.
 * Other rooms implement these; the flow imports nothing of them.
 */
import type {
  Address,
  BaseUnits,
  ChallengeNonce,
  FacilitatorApi,
  Payload,
  Rejection,
  TokenLabel,
  TxHash,
  UnixSeconds,
} from '@svc-zerc20/protocol'
import type { Grant } from './ledger-port.js'
import type {
  AddressEpoch,
  Burn,
  Challenge,
  ClaimedPermit,
  Interrupted,
  InterruptedMint,
  ShallowBurns,
} from './records.js'

/** The token, the chain and the treasury that this facilitator serves; fixed for its lifetime. */
export type Deployment = {
  readonly chainId: number
  readonly token: Address
  readonly tokenName: string
  /** Only for people; absent when the token does not tell. */
  readonly tokenLabel?: TokenLabel
  readonly treasury: Address
  /** The permit-burner helper; absent when the gasless path is not offered. */
  readonly helper?: Address
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

/** A receipt, as far as it tells of transfers of the token. */
export type TransferReceipt = {
  readonly succeeded: boolean
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly transfers: readonly TransferLog[]
}

export type SelfTransferChainFacts = {
  readonly timestamp: UnixSeconds
  /** As far as a block backs it; not above the burn's own when nobody asked how deep that is. */
  readonly headNumber: bigint
  readonly burnAddressBalance: bigint
  readonly receipt?: TransferReceipt
}

/** Reads the chain. A method takes one JSON-RPC round trip unless it says otherwise, and throws `SvcError` when it fails. */
export type Chain = {
  /** Shares its round trip with questions that arrive together. */
  permitFacts(challenge: Challenge, payer: Address): Promise<PermitChainFacts>
  /**
   * Facts for challenges of one payer, in order and all of one block. If there are very many, only for the
   * first ones.
   */
  permitFactsTogether(challenges: readonly Challenge[], payer: Address): Promise<readonly PermitChainFacts[]>
  /**
   * Takes two round trips when the burn needs more than one confirmation: then the head must be there, too.
   */
  selfTransferFacts(txHash: TxHash, payTo: Address, confirmations: number): Promise<SelfTransferChainFacts>
  /**
   * Where the helper's replay ledger holds this burn, by its event; undefined when the node shows none. Searches the blocks
   * since the challenge was issued, so it takes several round trips.
   */
  findExecutedBurn(challenge: Challenge, payer: Address): Promise<Burn | undefined>
  /** The time of the block at this height; undefined when the node has none there. */
  blockTime(number: bigint): Promise<UnixSeconds | undefined>
  /** The newest block the node was seen to have, give or take a few; no round trip. */
  headNumber(): bigint
  /** Asks the node for its newest block. Where nothing is sent and nobody asks, the number above stays what it was. */
  readHead(): Promise<bigint>
}

/**
 * A permit payload is public once its burn is broadcast. The ticket of an offer stays secret: it
 * distinguishes the receiver of the offer from a stranger who read the chain.
 */
export type Tickets = {
  of(nonce: ChallengeNonce): string
  /** The time taken does not tell how much of a guess is right. */
  matches(nonce: ChallengeNonce, given: string): boolean
}

/** Who signed what of a payload. Undefined when the signature has no canonical form, or no key made it. */
export type PermitSigners = {
  readonly permitSigner: Address | undefined
  readonly burnAuthorizationSigner: Address | undefined
}

/** Finds the signers of a payload. A settle after its verify finds them again without any work. */
export type Signers = (challenge: Challenge, payload: Payload.PermitPayload) => Promise<PermitSigners>

export type BurnOutcome =
  | { readonly kind: 'burned'; readonly burn: Burn }
  | {
      readonly kind: 'failed'
      readonly rejection: Rejection
      readonly txHash?: TxHash
      /**
       * The transaction was mined, and this burn alone did nothing. The gas was spent, and only the payer can
       * cause that: a deadline that had passed is no fault of it.
       */
      readonly spentGas?: boolean
      /** The transactions that were recorded for it lost their txNonces to others: none can be mined any more. */
      readonly isDisplaced?: true
    }

export type Burner = {
  /**
   * Relays one burn. Resolves when it is confirmed on chain or its transaction failed; whatever happens in
   * between, the on-chain replay ledger keeps it to one execution. The transaction is recorded in the ledger
   * before anyone can see it, and again when a higher gas price changes its hash.
   */
  burn(item: ClaimedPermit): Promise<BurnOutcome>
  /** Goes on with a transaction of an earlier run; one outcome per item, in order. */
  resume(interrupted: Interrupted): readonly Promise<BurnOutcome>[]
  /** From now on a reorg that takes these back is reported and answered, as if this run had relayed them. */
  watch(burns: ShallowBurns): void
  /** The burn that the on-chain replay ledger already holds; nothing is broadcast. */
  find(item: ClaimedPermit): Promise<BurnOutcome>
  /**
   * A reorg took a burn back after it had ended; `outcome` is how it ends this time. `gone`: no block holds it, and
   * it is sent again. `moved`: its transaction is in another block.
   */
  onReorged(
    listener: (item: ClaimedPermit, outcome: Promise<BurnOutcome>, how: 'gone' | 'moved') => void,
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
  | { readonly kind: 'mined'; readonly txHash: TxHash }
  | {
      readonly kind: 'failed'
      /**
       * `would_revert`: the chain refuses it now, nothing was sent. `reverted`: it was mined and did nothing.
       * `displaced`: another transaction used its txNonce. `unfunded`: the relayer must be funded first. `unavailable`:
       * the node, the disk or the queue refused before anything was sent.
       */
      readonly why: 'would_revert' | 'reverted' | 'displaced' | 'unfunded' | 'unavailable'
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
  /** Goes on with a mint that an earlier run signed; before the relayer assigns new txNonces. */
  resume(interrupted: InterruptedMint): Promise<MintOutcome>
  isUnderWay(nonce: ChallengeNonce): boolean
}

/**
 * A one-time burn address that nobody has seen yet. With seed, treasury and chain it derives again, and no secret is in it.
 * It says what it was made with: under other terms it is another address, or one that nobody finds again by its nonce.
 */
export type ReadyAddress = {
  readonly challengeNonce: ChallengeNonce
  readonly payTo: Address
  readonly powNonce: number
  /** Bits of the proof of work that was searched for. */
  readonly powBits: number
  /** Present for an address that is minted in a batch. */
  readonly epoch?: AddressEpoch
}

/** The caller that asks for a challenge. */
export type Asker = {
  /** The caller's name, when it is a seller with a token. */
  readonly seller?: string | undefined
  /** Aborted when the caller hung up and would not hear the answer. */
  readonly gone: AbortSignal
}

/** One-time burn addresses; an address is handed out once. */
export type AddressSource = {
  /** Undefined when none was ready in time, or the caller hung up. */
  take(waitMs: number, asker: Asker): Promise<ReadyAddress | undefined>
  /** Takes back an address that nobody else has seen and that is written nowhere. */
  giveBack(address: ReadyAddress): void
}

export type SettleAnswer = {
  readonly response: FacilitatorApi.SettleResponse
  /** Present with a success: the caller uses it once the answer is written. */
  readonly grant?: Grant
}
