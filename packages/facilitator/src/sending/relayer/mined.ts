/**
 * Transactions that were mined lately: a reorg can take their blocks back. They are kept for some blocks, in all
 * their signed versions, so that the same bytes can be sent again.
 */
import type { Receipt } from '@svc-zerc20/evm'
import type { Clock, TxHash } from '@svc-zerc20/protocol'
import type { Slot } from './slot.js'
import type { AnswerTimes, Head, RelayReader, RelayView } from './view.js'

/** The block that holds a transaction. */
export type MinedBlock = Pick<Receipt, 'blockNumber' | 'blockHash'>

export type Mined = ReturnType<typeof createMined>

/**
 * A reorg replaced the transaction's block. A transaction that is surely gone is no longer kept; a moved one
 * is kept at its new place.
 */
export type Reorged =
  | { readonly how: 'gone'; readonly slot: Slot }
  | { readonly how: 'moved'; readonly slot: Slot; readonly receipt: Receipt }

export type MinedLimits = {
  readonly minedKeptMax: number
  readonly minedKeptBytesMax: number
  readonly reorgPollMs: number
  readonly reorgedAfterMs: number
}

/** Receipts of full batches are large. */
const receiptsTogetherMax = 8

type Entry = {
  readonly slot: Slot
  readonly bytes: number
  blockNumber: bigint
  blockHash: string
  /** A look saw its block on the chain, together with the blocks of the others. */
  isSeen: boolean
  /** Since this time no block was seen to hold the transaction. */
  goneSinceMs?: number
}

export function createMined(deps: {
  reader: Pick<RelayReader, 'receipts' | 'blockHashes'>
  clock: Clock
  /** Blocks on top of its own for which a transaction is kept. */
  watchBlocks: number
  /** No block holds the transaction now. The node may have to get it again. */
  onMissing: (slot: Slot) => void
  limits: MinedLimits
}) {
  const { reader, clock, limits } = deps
  /** Oldest first. */
  const entries = new Map<number, Entry>()
  let bytes = 0
  let looked: { readonly atMs: number; readonly headHash: string } | undefined
  /** A block was seen to be replaced. Every look asks again until all transactions have their place. */
  let isReorgSuspected = false

  function drop(txNonce: number): Entry | undefined {
    const entry = entries.get(txNonce)
    if (entry && entries.delete(txNonce)) bytes -= entry.bytes
    return entry
  }

  function forgetDeep({ number }: Head): void {
    for (const [txNonce, { blockNumber }] of entries) {
      if (number - blockNumber >= BigInt(deps.watchBlocks)) drop(txNonce)
    }
  }

  function isDue({ hash }: Head): boolean {
    if (!looked) return true
    return hash !== looked.headHash && clock.now() - looked.atMs >= limits.reorgPollMs
  }

  /** Tells where a transaction went, once that is certain: a node that lags does not show it for a while. */
  function follow(entry: Entry, receipts: RelayView['receipts'], times: AnswerTimes): Reorged[] {
    const { slot } = entry
    const receipt = receipts.find((found) => typeof found === 'object')
    if (receipt) {
      const hasMoved = receipt.blockHash !== entry.blockHash
      entry.blockNumber = receipt.blockNumber
      entry.blockHash = receipt.blockHash
      delete entry.goneSinceMs
      return hasMoved ? [{ how: 'moved', slot, receipt }] : []
    }
    if (receipts.includes('unreadable')) return []
    entry.goneSinceMs ??= times.answeredMs
    deps.onMissing(slot)
    if (times.askedMs - entry.goneSinceMs < limits.reorgedAfterMs) return []
    drop(slot.txNonce)
    return [{ how: 'gone', slot }]
  }

  async function followAll(reorged: readonly Entry[]): Promise<readonly Reorged[]> {
    isReorgSuspected = reorged.length > 0
    const followed: Reorged[] = []
    for (let i = 0; i < reorged.length; i += receiptsTogetherMax) {
      const some = reorged.slice(i, i + receiptsTogetherMax)
      const hashes = some.flatMap(({ slot }) => slot.versions.map(({ hash }) => hash))
      const askedMs = clock.now()
      const receipts = await reader.receipts(hashes)
      const times = { askedMs, answeredMs: clock.now() }
      const receiptOf = new Map<TxHash, (typeof receipts)[number]>(
        hashes.map((hash, at) => [hash, receipts[at]]),
      )
      for (const entry of some) {
        const own = entry.slot.versions.map(({ hash }) => receiptOf.get(hash))
        followed.push(...follow(entry, own, times))
      }
    }
    return followed
  }

  return {
    keep(slot: Slot, { blockNumber, blockHash }: MinedBlock): void {
      if (deps.watchBlocks === 0) return
      const size = slot.versions.reduce((sum, { raw }) => sum + raw.length, 0)
      entries.set(slot.txNonce, { slot, bytes: size, blockNumber, blockHash, isSeen: false })
      bytes += size
      for (const txNonce of entries.keys()) {
        if (entries.size <= limits.minedKeptMax && bytes <= limits.minedKeptBytesMax) break
        drop(txNonce)
      }
    },

    txNonces: (): readonly number[] => [...entries.keys()],

    /** Takes one out, when it is there. */
    take: (txNonce: number) => drop(txNonce)?.slot,

    /** Asks whether the blocks still stand. */
    async poll(head: Head): Promise<readonly Reorged[]> {
      forgetDeep(head)
      if (entries.size === 0 || !(isReorgSuspected || isDue(head))) return []
      const all = [...entries.values()]
      if (isReorgSuspected || (await findReorged(reader, entriesToCheck(all))).length > 0) {
        return followAll(await findReorged(reader, [...entries.values()]))
      }
      for (const entry of all) entry.isSeen = true
      looked = { atMs: clock.now(), headHash: head.hash }
      return []
    },
  }
}

/**
 * If the highest block that was seen together with others is still on the chain, the ones below it are, too. Blocks that
 * were seen since may be on another branch, so each of them is checked.
 */
function entriesToCheck(all: readonly Entry[]): readonly Entry[] {
  const seen = all.filter(({ isSeen }) => isSeen).toSorted((a, b) => Number(a.blockNumber - b.blockNumber))
  return [...seen.slice(-1), ...all.filter(({ isSeen }) => !isSeen)]
}

/** Transactions whose block was replaced by another one, or by none. */
async function findReorged(
  reader: Pick<RelayReader, 'blockHashes'>,
  all: readonly Entry[],
): Promise<readonly Entry[]> {
  const heights = [...new Set(all.map(({ blockNumber }) => blockNumber))]
  const hashes = await reader.blockHashes(heights)
  const hashAt = new Map(heights.map((height, i) => [height, hashes[i]]))
  return all.filter((entry) => {
    const stands = hashAt.get(entry.blockNumber) === entry.blockHash
    if (stands) delete entry.goneSinceMs
    return !stands
  })
}
