/**
 * Every address this facilitator issued lately, the transfers to them that are not accounted for, and how far the
 * token's transfers have been followed. What a store says it holds survives a crash.
 */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { FoundTransfer } from '../../payment/found/judge-transfers.js'
import type { Challenge } from '../../payment/records.js'

export type { FoundTransfer }

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
  /** Blocks before it, the newest first: after a reorg it goes on from the first that is still on the chain. */
  readonly earlier?: readonly Checkpoint[]
}

export type IssuedStore = {
  /** Keeps these addresses; what is known already stays as it is. */
  put(challenges: readonly Challenge[]): Promise<void>
  /** What was issued with each of these addresses, in order. */
  find(addresses: readonly Address[]): Promise<readonly (Challenge | undefined)[]>
  /** The lowest block that a transfer to an issued address can be in; undefined when nothing was issued. */
  firstBlock(): Promise<bigint | undefined>
  /**
   * Forgets addresses that were issued before, oldest first and at most so many, with the transfers to them; not those
   * whose transfers matter.
   */
  forget(issuedBefore: number, countMax: number, matter: DoTransfersMatter): Promise<number>

  followed(): Promise<FollowedBlock | undefined>
  setFollowed(block: FollowedBlock): Promise<void>

  /** Keeps a transfer and has its address looked at from `dueAt` on. */
  putTransfer(payTo: Address, transfer: FoundTransfer, dueAt: number): Promise<'kept' | 'known' | 'full'>
  transfersTo(payTo: Address): Promise<readonly FoundTransfer[]>
  /** Everything that is kept, address by address. */
  kept(): AsyncIterable<{ readonly payTo: Address; readonly transfers: readonly FoundTransfer[] }>
  /** Addresses whose time has come, at most so many, and since when. */
  due(now: number, countMax: number): Promise<readonly { payTo: Address; dueAt: number }[]>
  /** The address is looked at again at `dueAt`, or not again before another transfer comes. */
  lookedAt(at: { payTo: Address; dueAt: number }, next: number | undefined): Promise<void>
  /** Its transfers are accounted for elsewhere. */
  dropTransfers(payTo: Address): Promise<void>
  /** A reorg may have taken what these blocks held. */
  dropTransfersAfter(block: number): Promise<void>
  close(): Promise<void>
}

/**
 * What a store may keep of transfers, so that dust cannot fill the disk. No bound holds for all addresses together:
 * dust at some of them would keep the money at others from being found.
 */
export type FoundLimits = { readonly perAddressMax: number }

export type DoTransfersMatter = (payTo: Address, transfers: readonly FoundTransfer[]) => Promise<boolean>

/** Of too many transfers the smallest makes room, and only for a larger one: the largest can be minted. */
export function leastBelow(
  transfers: readonly FoundTransfer[],
  { value }: FoundTransfer,
): FoundTransfer | undefined {
  const least = transfers.reduce<FoundTransfer | undefined>(
    (a, b) => (a && a.value <= b.value ? a : b),
    undefined,
  )
  return least && least.value < value ? least : undefined
}

/** For an operator: one address where money lies that a single proof does not bring. */
export type StuckAddress = {
  readonly challengeNonce: ChallengeNonce
  readonly payTo: Address
  readonly transfers: readonly FoundTransfer[]
  /** Base units that lie there beyond the one leaf that is, or will be, minted. */
  readonly stuck: bigint
}
