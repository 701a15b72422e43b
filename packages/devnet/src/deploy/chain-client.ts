import {
  type Account,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  type Transport,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const limits = { receiptPollMs: 50, receiptPollsMax: 2_400 } as const

/** A client of any node. It signs with one key of its own, so the node needs no keys. */
export type ChainClient = {
  read: PublicClient<Transport>
  wallet: WalletClient<Transport, undefined, Account>
  /** The receipt of a successful transaction. Throws when it reverted or was not mined in time. */
  succeeded(hash: Hex, what: string): Promise<TransactionReceipt>
}

/** Creates a client on plain JSON-RPC. */
export function createChainClient({ rpcUrl, privateKey }: { rpcUrl: string; privateKey: Hex }): ChainClient {
  const transport = http(rpcUrl)
  const read = createPublicClient({ transport, cacheTime: 0 })
  return {
    read,
    wallet: createWalletClient({ account: privateKeyToAccount(privateKey), transport }),
    async succeeded(hash, what) {
      const receipt = await receiptOf(read, hash)
      if (receipt.status !== 'success') throw new Error(`${what} reverted in transaction ${hash}`)
      return receipt
    },
  }
}

/**
 * Asks for the receipt again and again. The library's own wait looks again only when it hears of a higher block, and a chain
 * that mines on demand, or one that once named a block too high, may have none for long.
 */
async function receiptOf(read: PublicClient<Transport>, hash: Hex): Promise<TransactionReceipt> {
  for (let polls = 1; ; polls++) {
    try {
      return await read.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || polls === limits.receiptPollsMax) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, limits.receiptPollMs))
  }
}
