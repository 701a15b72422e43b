/** The ports of finalization, beside those of the payment flow. */

import type { MintCall } from '../ports.js'
import type { AwaitingMint, Burn, Challenge, Mint } from '../records.js'

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
