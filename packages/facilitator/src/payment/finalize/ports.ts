/** The ports of finalization, beside those of the payment flow. */

import type { MintCall } from '../ports.js'
import type { AwaitingMint, Burn, Challenge, Mint } from '../records.js'
import type { DemotionEvent } from '../report.js'

/** The newest root that the verifier has proved, and whether it mints at all at the moment. */
export type ProvedRoot = {
  /** Leaves under the root. */
  readonly size: bigint
  readonly root: bigint
  readonly isPaused: boolean
}

/**
 * How far the verifier has minted a payment. `shallow`: the whole value, in a block that a reorg could still
 * take back.
 */
export type MintState = 'due' | 'shallow' | 'minted'

/** The part of a payment that tells how much of it is minted: neither its address nor its leaf. */
export type Mintable = {
  readonly challenge: Pick<Challenge, 'nonce' | 'treasury' | 'powNonce' | 'epoch'>
  readonly burn: Pick<Burn, 'value'>
}

export type MintVerifier = {
  latestRoot(): Promise<ProvedRoot>
  /** One state per payment, in order. */
  mintStates(payments: readonly Mintable[]): Promise<readonly MintState[]>
  /** The mint by its event, whoever sent it; undefined when the node shows none. */
  findMint(payment: AwaitingMint): Promise<Mint | undefined>
}

/**
 * The burn as the chain has it now, even if a reorg moved it, and the blocks that hold it, its own included.
 * Undefined when no block holds it. Throws when the node cannot tell.
 */
export type RereadBurn = (
  challenge: Challenge,
  burn: Burn,
) => Promise<{ readonly burn: Burn; readonly depth: number } | undefined>

/**
 * Proves a mint, with fresh randomness in every proof. The path was checked against the root. Throws when the
 * mint cannot be proved now.
 */
export type ProveMint = (payment: AwaitingMint, root: ProvedRoot, signal: AbortSignal) => Promise<MintCall>

export type FinalizeEvent =
  | {
      readonly event: 'mint.proving'
      readonly challengeNonce: string
      readonly leaves: bigint
      /** Waiting burns of this amount that the root covers, this one included: any of them could explain the mint. */
      readonly company: number
    }
  | {
      readonly event: 'batch.proving'
      /** Payments of the sum, and other transfers to addresses of the epoch. */
      readonly payments: number
      readonly others: number
      /** Transfers among which the proof hides them. */
      readonly crowd: bigint
    }
  | { readonly event: 'batch.proved'; readonly payments: number; readonly ms: number }
  | {
      readonly event: 'batch.failed'
      readonly payments: number
      readonly reason: string
      readonly err: unknown
    }
  /** Somebody else counts burns of our epoch: the larger sum is minted, and the smaller one is lost. */
  | {
      readonly event: 'batch.foreign'
      readonly epoch: number
      /** What was minted beyond our burns, or what the other account came to. */
      readonly value: bigint
      readonly submitter?: string
    }
  | { readonly event: 'mint.proved'; readonly challengeNonce: string; readonly ms: number }
  | { readonly event: 'mint.mined'; readonly challengeNonce: string }
  | {
      readonly event: 'mint.failed'
      readonly challengeNonce: string
      readonly reason: string
      readonly err: unknown
    }
  | { readonly event: 'mint.resumed'; readonly challengeNonce: string }
  | { readonly event: 'payment.finalized'; readonly challengeNonce: string }
  | DemotionEvent
  /** A block holds the burn of a demoted payment again: it is accepted again. */
  | { readonly event: 'payment.returned'; readonly challengeNonce: string; readonly txHash: string }
  /** `finalize.on`: this daemon mints. `finalize.off`: nothing is minted here, for this reason. */
  | { readonly event: 'finalize.on'; readonly artifacts: string }
  | { readonly event: 'finalize.off'; readonly reason: string }
  | {
      readonly event: 'finalize.waiting'
      readonly reason: string
      readonly payments: number
      readonly seconds: number
    }
  | { readonly event: 'finalize.failed'; readonly err: unknown }
