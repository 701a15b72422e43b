/** The wait for one transaction in any of its versions: the same txNonce with other gasPrices, of which one can be mined. */
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { callAll, type JsonRpc, quantityOf } from './json-rpc.js'
import { parseReceipt, type Receipt } from './receipts.js'

export type ReceiptWait = {
  /**
   * Looks for a receipt until the time is up, and then returns undefined. A node that does not answer is asked again.
   * Throws `SvcError('transaction_reverted')` or `SvcError('transaction_displaced')`.
   */
  within(waitMs: number, versions: Versions, signal: AbortSignal): Promise<Receipt | undefined>
}

export type Versions = { readonly hashes: readonly Hex[]; readonly txNonce: number }

/** Asks for the number of mined transactions of an account, which is its next txNonce. */
export const countCallOf = (account: Hex) => ({
  method: 'eth_getTransactionCount',
  params: [account, 'latest'],
})

export function createReceiptWait(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly account: Hex
  readonly clock: Clock
  readonly pollMs: number
}): ReceiptWait {
  const { rpc, clock, pollMs } = deps
  const countCall = countCallOf(deps.account)

  /** The receipt of any version of the transaction. Throws when no version can be mined any more. */
  async function receiptOf({ hashes, txNonce }: Versions): Promise<Receipt | undefined> {
    const asked = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
    const [used, ...receipts] = await callAll(rpc, [countCall, ...asked])
    const found = receipts.map(parseReceipt).find((receipt) => receipt !== undefined)
    if (!found) {
      if (quantityOf(countCall.method, { result: used }) >= BigInt(txNonce)) return undefined
      throw new SvcError('transaction_displaced', `a reorg took the transaction before txNonce ${txNonce}`)
    }
    if (!found.succeeded) throw new SvcError('transaction_reverted', `${found.transactionHash} reverted`)
    return found
  }

  return {
    async within(waitMs, versions, signal) {
      const until = clock.now() + waitMs
      while (clock.now() < until && !signal.aborted) {
        try {
          const receipt = await receiptOf(versions)
          if (receipt !== undefined) return receipt
        } catch (error) {
          if (!(error instanceof SvcError) || !error.code.startsWith('rpc_')) throw error
        }
        await clock.sleep(pollMs, signal)
      }
      return undefined
    },
  }
}
