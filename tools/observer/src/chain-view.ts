/**
 * The public record of one token: everything that the observer is given. Every field is in a block for all to read. The
 * observer's functions take this type and nothing else, so no secret of a facilitator, no journal and no truth of a
 * simulation can reach them.
 */

/** One leaf of the token's tree, from `IndexedTransfer`. A mint is a leaf as well. */
export type Transfer = {
  readonly leaf: number
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Unix seconds of the block. */
  readonly time: number
  /** The account that signed the transaction: the payer itself, or a relayer. */
  readonly sender: string
}

/** One mint, from `Teleport`, and from `BatchCounted` when a batch proof paid for it. */
export type Mint = {
  /** Leaf of the mint's own transfer; names the mint. */
  readonly leaf: number
  readonly to: string
  readonly value: bigint
  readonly time: number
  readonly sender: string
  /** Leaves under the root of the proof: every burn that the mint pays is below it. */
  readonly rootSize: number
  /** Leaves that a batch proof counted. Absent for a proof of one burn. */
  readonly range?: { readonly start: number; readonly end: number }
}

/** One proved root, from `TransferRootProved`. */
export type Root = { readonly size: number; readonly time: number }

/** All lists are in the order of the chain. */
export type ChainView = {
  readonly transfers: readonly Transfer[]
  readonly mints: readonly Mint[]
  readonly roots: readonly Root[]
}
