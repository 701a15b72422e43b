import type { Address, Hex } from 'viem'

/** A transaction the node took but has not mined. The raw bytes are kept: a reorg or a restart needs them. */
export type PooledTransaction = {
  hash: Hex
  raw: Hex
  from: Address
  nonce: number
  maxFeePerGas: bigint
  /** What the sender must own for it: value and gas at the highest fee. */
  costWei: bigint
}

/** Our own list of what waits in the engine's mempool, in order of arrival. */
export type Mempool = {
  /** Adds a transaction, in place of the one with the same sender and nonce. */
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
