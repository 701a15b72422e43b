/** The ports of batch mints, beside those of finalization. */
import type { ProvedRoot } from '../finalize/ports.js'
import type { MintCall } from '../ports.js'
import type { Mint } from '../records.js'
import type { Company } from './company.js'
import type { Epoch, EpochLeaf } from './epoch.js'

/** How far our account has counted the burns of an epoch. */
export type BatchCount = {
  /** Leaves below this were looked at. */
  readonly checkpoint: bigint
  /** The sum of the burns that were counted. */
  readonly counted: bigint
  /** The sum that was minted for the recipient hash, by whatever proofs. */
  readonly minted: bigint
}

/** The count now, and the count as deep as a mint must be. */
export type SeenCount = { readonly latest: BatchCount; readonly deep: BatchCount }

/** One proof that the chain counted: leaves from `start` up to but without `end`. */
export type CountedBatch = Required<Pick<Mint, 'txHash' | 'blockNumber'>> & {
  readonly start: bigint
  readonly end: bigint
}

/** A count of an epoch by an account that is not ours. */
export type ForeignCount = {
  readonly submitter: string
  /** Leaves below this were looked at, and came to this sum. */
  readonly end: bigint
  readonly counted: bigint
}

/** The burns of one proof, rising, all of them from `start` up to but without `end`. */
export type Batch = {
  readonly epoch: Epoch
  readonly start: bigint
  readonly end: bigint
  readonly leaves: readonly EpochLeaf[]
}

/**
 * Proves a batch, with fresh randomness in every proof. Every path was checked against the root. The call finalizes no
 * payment by itself: `nonces` is for the caller to fill. Throws when the batch cannot be proved now.
 */
export type ProveBatch = (
  batch: Batch,
  root: ProvedRoot,
  signal: AbortSignal,
) => Promise<Omit<MintCall, 'nonces'>>

/** When a batch is minted: once its payers are a company, or after the longest wait. */
export type BatchPace = Company & {
  /** The longest that a payment waits for others. */
  readonly waitMaxMs: number
  /** How far chance moves a mint. */
  readonly jitterMs: number
}

export type BatchPorts = {
  /** One for each epoch, in order. */
  readonly counts: (epochs: readonly Epoch[]) => Promise<readonly SeenCount[]>
  /** The counted proofs of an epoch from a block on, oldest first. */
  readonly findCounts: (epoch: Epoch, fromBlock: bigint) => Promise<readonly CountedBatch[]>
  readonly prove: ProveBatch
  /** Counts of the epoch by accounts that are not ours, since it began, and what each came to. */
  readonly foreignCounts: (epoch: Epoch) => Promise<readonly ForeignCount[]>
  /**
   * Transfers to addresses of the epoch that were found on the chain, whether or not the ledger knows them. Each is as
   * deep as a mint must be, and has `isCounted`.
   */
  readonly found: (epoch: Epoch) => Promise<readonly EpochLeaf[]>
  /** Remembers these found transfers as counted, before their proof leaves the daemon. The mark stays while the address does. */
  readonly mark: (leaves: readonly EpochLeaf[]) => Promise<void>
  /** Less than this is not worth a mint, unless it pays its challenge in full. */
  readonly dustBelow: bigint
  /**
   * All transfers below this leaf were searched for ours. Undefined when a search that knows no leaves read everything up to
   * its block.
   */
  readonly followedLeaves: () => Promise<bigint | undefined>
  /** How many of these leaves, from the first on, one proof can count. The indices rise. */
  readonly fits: (leafIndices: readonly bigint[]) => number
  /**
   * How many of these leaves, from the first on, one proof counts, and the end that it publishes: `limit` where it counts
   * all of them, and otherwise a place that `chance` draws. `least`: so many leaves are counted, if they fit. The indices
   * rise and lie below `limit`.
   */
  readonly rangeOf: (
    leafIndices: readonly bigint[],
    limit: bigint,
    draw: { readonly least: number; readonly chance: number },
  ) => { readonly count: number; readonly end: bigint }
  readonly pace: BatchPace
}
