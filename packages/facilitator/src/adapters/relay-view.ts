/** What the node shows of one key's transactions: a single round trip, judged for sense before it is believed. */
import { type Address, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { baseFeeOf } from './fees.js'
import { type JsonRpc, quantityOf, type RpcAnswer, resultOf, wellFormed } from './json-rpc.js'
import { parseReceipt, type Receipt } from './transfer-log.js'

export type RelayView = {
  /** Nonces below this one are used on chain. */
  readonly usedNonces: number
  readonly headNumber: bigint
  readonly baseFee: bigint
  /** Of the hashes asked for, in order. `unreadable`: the node did not say whether there is a receipt. */
  readonly receipts: readonly (Receipt | undefined | 'unreadable')[]
}

export type ReadRelayView = (hashes: readonly TxHash[]) => Promise<RelayView>

export function createRelayView(deps: {
  rpc: JsonRpc
  address: Address
  chainId: number
  onUnreadable: (err: unknown) => void
}): ReadRelayView {
  /** One bad receipt must not hide the others: geth answers errors while it indexes. */
  function readReceipt(answer: RpcAnswer | undefined): Receipt | undefined | 'unreadable' {
    try {
      return parseReceipt(resultOf('eth_getTransactionReceipt', answer))
    } catch (err) {
      deps.onUnreadable(err)
      return 'unreadable'
    }
  }

  return async (hashes) => {
    const [chainId, count, block, ...receipts] = await deps.rpc.batch([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getTransactionCount', params: [deps.address, 'latest'] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    ])
    const answering = quantityOf('eth_chainId', chainId)
    // Nonces of another chain would make every transaction of ours look lost.
    if (answering !== BigInt(deps.chainId)) {
      throw new SvcError('wrong_chain', `the RPC answers for chain ${answering}, not ${deps.chainId}`)
    }
    const head = resultOf('eth_getBlockByNumber', block)
    return {
      usedNonces: Number(quantityOf('eth_getTransactionCount', count)),
      headNumber: wellFormed('eth_getBlockByNumber', () => BigInt((head as { number: string }).number)),
      baseFee: baseFeeOf(head),
      receipts: hashes.map((_, i) => readReceipt(receipts[i])),
    }
  }
}
