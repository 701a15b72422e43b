/**
 * The store of issued addresses: every address that was issued lately, transfers to them that are not accounted for, and
 * the block up to which the token's transfers were followed.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { BatchPorts } from '../../payment/epochs/ports.js'
import type { FoundTransfer } from '../../payment/found/judge-transfers.js'
import type { Payment } from '../../payment/records.js'

/** A block that was followed. */
export type Checkpoint = {
  readonly number: number
  /** Absent before the first block that was followed. */
  readonly hash?: string
  /** The token after this block: its transfers, and its hash chain over them. Absent while it is not known. */
  readonly token?: { readonly size: bigint; readonly hashChain: bigint }
}

/** Transfers are followed up to and including this block. */
export type FollowedBlock = Checkpoint & {
  /** Blocks before it, newest first. After a reorg, following goes on from the first that is still on the chain. */
  readonly earlier?: readonly Checkpoint[]
}

/** The transfers to addresses of an epoch are asked for, and marked, by batch mints. */
export type IssuedStore = Pick<BatchPorts, 'found' | 'mark' | 'followedLeaves'> & {
  /** The payment of each of these addresses, in order. */
  find(addresses: readonly Address[]): Promise<readonly (Payment | undefined)[]>
  /** The lowest block that a transfer to an issued address can be in; undefined when nothing was issued. */
  firstBlock(): Promise<bigint | undefined>
  /**
   * Forgets challenges that nobody paid and that were issued before this second, with the transfers to them: oldest first,
   * and at most `countMax`. Challenges with money that is worth a mint, from `dustBelow` on, are kept.
   */
  forget(issuedBefore: number, countMax: number, dustBelow: bigint): Promise<number>

  followed(): Promise<FollowedBlock | undefined>
  setFollowed(block: FollowedBlock): Promise<void>

  /** Keeps a transfer and has its address looked at from `dueAt` on. */
  putTransfer(payTo: Address, transfer: FoundTransfer, dueAt: number): Promise<'kept' | 'known' | 'full'>
  transfersTo(payTo: Address): Promise<readonly FoundTransfer[]>
  /** Every payment to whose address transfers are kept, in the order of the addresses. */
  kept(): AsyncIterable<{ readonly payment: Payment; readonly transfers: readonly FoundTransfer[] }>
  /** Addresses that are due, at most `countMax`, each with the second since when. */
  due(now: number, countMax: number): Promise<readonly { payTo: Address; dueAt: number }[]>
  /** The address is looked at again at `dueAt`, or not again before another transfer comes. */
  accountedFor(at: { payTo: Address; dueAt: number }, next: number | undefined): Promise<void>
  /** Drops the transfers to an address: they are accounted for elsewhere. */
  dropTransfers(payTo: Address): Promise<void>
  /** Drops transfers in blocks after this one: a reorg may have taken them. */
  dropTransfersAfter(block: number): Promise<void>
}

/**
 * The smallest transfer, when it is smaller than the new one and makes room for it: a single proof mints only the largest.
 * A transfer that a batch counted stays: without it the sums of its epoch would not add up.
 */
export function leastBelow(
  transfers: readonly FoundTransfer[],
  { value }: FoundTransfer,
): FoundTransfer | undefined {
  const least = transfers
    .filter(({ isCounted }) => !isCounted)
    .reduce<FoundTransfer | undefined>((a, b) => (a && a.value <= b.value ? a : b), undefined)
  return least && least.value < value ? least : undefined
}
