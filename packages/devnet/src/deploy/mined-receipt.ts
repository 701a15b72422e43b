import { type Hex, type PublicClient, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'

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
