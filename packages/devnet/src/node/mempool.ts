import type { Address, Hex } from 'viem'

/** A transaction that the node took and has not mined. Its raw bytes are kept for a reorg or a restart. */
export type PooledTransaction = {
  hash: Hex
  raw: Hex
  from: Address
  nonce: number
  maxFeePerGas: bigint
  /** Amount that the sender must own: value, and gas at the highest fee. */
  costWei: bigint
}

/** Our own list of the transactions in the engine's mempool, in order of arrival. */
export type Mempool = {
  /** Adds a transaction. Replaces one with the same sender and txNonce. */
  add(transaction: PooledTransaction): void
  remove(hash: Hex): PooledTransaction | undefined
  list(): PooledTransaction[]
  replaceAll(transactions: readonly PooledTransaction[]): void
}

/** Creates an empty mempool. */
export function createMempool(): Mempool {
  const byHash = new Map<Hex, PooledTransaction>()
  const hashBySlot = new Map<string, Hex>()
  const slotOf = ({ from, nonce }: PooledTransaction) => `${from}:${nonce}`

  function add(transaction: PooledTransaction) {
    const replaced = hashBySlot.get(slotOf(transaction))
    if (replaced !== undefined) byHash.delete(replaced)
    byHash.set(transaction.hash, transaction)
    hashBySlot.set(slotOf(transaction), transaction.hash)
  }

  return {
    add,
    remove(hash) {
      const transaction = byHash.get(hash)
      if (transaction === undefined) return undefined
      byHash.delete(hash)
      hashBySlot.delete(slotOf(transaction))
      return transaction
    },
    list: () => [...byHash.values()],
    replaceAll(transactions) {
      byHash.clear()
      hashBySlot.clear()
      for (const transaction of transactions) add(transaction)
    },
  }
}

/** The last transaction of a sender whose waiting transactions together cost more than it owns. */
export async function lastOfOverdrawn(
  waiting: readonly PooledTransaction[],
  balanceOf: (address: Address) => Promise<bigint>,
): Promise<PooledTransaction | undefined> {
  const bySender = new Map<Address, { costWei: bigint; last: PooledTransaction }>()
  for (const transaction of waiting) {
    const { costWei = 0n, last = transaction } = bySender.get(transaction.from) ?? {}
    bySender.set(transaction.from, {
      costWei: costWei + transaction.costWei,
      last: transaction.nonce > last.nonce ? transaction : last,
    })
  }
  for (const [sender, { costWei, last }] of bySender) {
    if (costWei > (await balanceOf(sender))) return last
  }
  return undefined
}
