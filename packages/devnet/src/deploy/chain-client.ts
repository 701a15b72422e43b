import {
  type Account,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
  type TransactionReceipt,
  type Transport,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { minedReceipt } from './mined-receipt.js'

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
      const receipt = await minedReceipt(read, hash)
      if (receipt.status !== 'success') throw new Error(`${what} reverted in transaction ${hash}`)
      return receipt
    },
  }
}
