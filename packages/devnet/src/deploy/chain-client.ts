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

/** A client of any node. It signs with its own key, so the node needs no keys. */
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
      const receipt = await minedReceipt(read, hash)
      if (receipt.status !== 'success') throw new Error(`${what} reverted in transaction ${hash}`)
      return receipt
    },
  }
}

const limits = { pollMs: 20, pollsMax: 6_000 } as const

/**
 * The receipt of a transaction, whatever its status. Throws when it was not mined in time. It is asked for again and again:
 * the library's own wait looks again only when it hears of a higher block, and may miss the last one of a chain that mines on demand.
 */
export async function minedReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  for (let polls = 1; ; polls++) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || polls === limits.pollsMax) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, limits.pollMs))
  }
}
