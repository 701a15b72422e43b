/** The ports of the sweep, with the guarantees it relies on. */
import type { Address, BaseUnits, TxHash } from '@svc-zerc20/protocol'
import type { OpenSweep, SignedTransaction, Sweep, Swept } from '../records.js'
import type { FeesDue, SweepTerms } from './plan.js'

/** The part of the ledger that knows which fees were swept. */
export type FeeLedger = {
  feesDue(terms: Pick<SweepTerms, 'treasury' | 'paymentsMax'>): Promise<FeesDue>
  /**
   * Remembers the transaction of a sweep, before anyone else can see it, and again for each higher fee. Throws when the
   * amount is not the sum of fees that are due to the recipient: nothing is recorded then.
   */
  recordSweepSigned(sweep: Sweep, transaction: SignedTransaction): Promise<void>
  /** The sweep is deep on the chain, or surely did not and will not happen: then its fees are due again. Idempotent. */
  endSweep(sweep: OpenSweep, end: SweepEnd): Promise<void>
  /**
   * Remembers a transfer from the treasury to a recipient of fees that no sweep is known to have done. It counts as a sweep
   * of these payments, whatever its amount.
   */
  recordSweepFound(sweep: Sweep, transfer: TreasuryTransfer): Promise<void>
  /** Sweeps that are signed and have not ended. */
  openSweeps(): Promise<readonly OpenSweep[]>
  swept(): Promise<Swept>
}

/** A transfer of tokens from the treasury, as the chain recorded it. */
export type TreasuryTransfer = {
  readonly txHash: TxHash
  readonly blockNumber: bigint
  readonly value: BaseUnits
}

/**
 * Transfers from the treasury to this recipient, from this block to the head, in order. Throws while a transaction of the
 * treasury waits for a block: nobody can say yet whether it is a transfer.
 */
export type SentTransfers = (
  recipient: Address,
  fromBlock: bigint,
) => Promise<readonly (TreasuryTransfer & { readonly isDeep: boolean })[]>

export type SweepEnd =
  | { readonly kind: 'done'; readonly txHash: TxHash; readonly blockNumber: bigint }
  | { readonly kind: 'failed' }

/**
 * - `would_revert`: the chain refuses it now, and nothing was sent
 * - `reverted`: it was mined and did nothing
 * - `displaced`: its txNonce was used otherwise, so deep that it cannot happen any more
 * - `treasury_short`: the treasury holds fewer tokens than the sweep
 * - `unfunded`: the treasury cannot pay the gas
 * - `unavailable`: the node or the disk refused before anything was sent
 */
export type SweepFailure =
  | 'would_revert'
  | 'reverted'
  | 'displaced'
  | 'treasury_short'
  | 'unfunded'
  | 'unavailable'

export type SweepOutcome =
  | Extract<SweepEnd, { kind: 'done' }>
  | { readonly kind: 'failed'; readonly why: SweepFailure; readonly err?: unknown }

/** Sends the tokens of a sweep from the treasury. */
export type SweepSender = {
  /**
   * Resolves when the transfer is deep on the chain or surely does not happen. The transaction is recorded before anyone
   * can see it, and `onSigned` is told of it then.
   */
  send(sweep: Sweep, onSigned: (txHash: TxHash) => void): Promise<SweepOutcome>
  /** Goes on with a sweep that an earlier run signed. The same bytes are sent again. */
  resume(sweep: OpenSweep): Promise<SweepOutcome>
}
