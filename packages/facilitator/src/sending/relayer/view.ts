/** The node's view of one key's transactions, judged for sense before it is believed. */
import {
  type BlockRef,
  baseFeeOf,
  blockCall,
  type JsonRpc,
  latestCall,
  parseReceipt,
  quantityOf,
  type Receipt,
  type RpcAnswer,
  type RpcCall,
  readBlock,
  readLatest,
  resultOf,
} from '@svc-zerc20/evm'
import { type Address, SvcError, type TxHash } from '@svc-zerc20/protocol'

export type Head = BlockRef & { readonly baseFee: bigint }

/**
 * When the node was asked, and when its answer was there. An answer holds for a moment between the two. So whatever has
 * to last is counted from its first answer to the last question: an answer that took long proves nothing more.
 */
export type AnswerTimes = { readonly askedMs: number; readonly answeredMs: number }

export type RelayView = {
  /** The node has the block that it named as its head. */
  readonly headIsThere: boolean
  /** The txNonces below this one are used on chain. Infinite when the head holds the only one that was asked for. */
  readonly usedTxNonces: number
  /** One for each hash that was asked for, in order. `unreadable`: the node did not say whether there is a receipt. */
  readonly receipts: readonly (Receipt | undefined | 'unreadable')[]
}

export type RelayReader = ReturnType<typeof createRelayReader>

/** Each question is one round trip. A view of one transaction alone is a second one when the head does not hold it. */
export function createRelayReader(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  address: Address
  chainId: number
  onUnreadable: (err: unknown) => void
}) {
  const { rpc } = deps

  /** One bad receipt must not hide the others: geth answers errors while it indexes. */
  function readReceipt(answer: RpcAnswer | undefined): Receipt | undefined | 'unreadable' {
    try {
      return parseReceipt(resultOf('eth_getTransactionReceipt', answer))
    } catch (err) {
      deps.onUnreadable(err)
      return 'unreadable'
    }
  }

  const askReceipts = (hashes: readonly TxHash[]) =>
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))

  /** Throws when the node answers for another chain, on which every transaction of ours would look lost. */
  async function askOurChain(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    const [chainId, ...answers] = await rpc.batch([{ method: 'eth_chainId', params: [] }, ...calls])
    const answering = quantityOf('eth_chainId', chainId)
    if (answering === BigInt(deps.chainId)) return answers
    throw new SvcError('wrong_chain', `the RPC answers for chain ${answering}, not ${deps.chainId}`)
  }

  return {
    /** The cheapest question: while its answer stays the same, nothing was mined. */
    async head(): Promise<Head> {
      const [answer] = await rpc.batch([latestCall])
      return { ...readLatest(answer), baseFee: baseFeeOf(resultOf('eth_getBlockByNumber', answer)) }
    },

    /**
     * Undefined when the only transaction that was asked for is new and has no receipt: it waits for its block. Throws when a
     * receipt is missing and the node answers for another chain.
     */
    async view(
      head: BlockRef,
      hashes: readonly TxHash[],
      { isNew = false }: { readonly isNew?: boolean } = {},
    ): Promise<RelayView | undefined> {
      const [hash, ...others] = hashes
      if (hash !== undefined && others.length === 0) {
        const receipts = (await rpc.batch(askReceipts(hashes))).map(readReceipt)
        if (receipts.some((receipt) => isIn(head, hash, receipt))) {
          return { headIsThere: true, usedTxNonces: Number.POSITIVE_INFINITY, receipts }
        }
        if (isNew && receipts.every((receipt) => receipt === undefined)) return undefined
      }
      // The receipts come after the count, so that a transaction that is mined meanwhile does not look displaced.
      const [block, count, ...receipts] = await askOurChain([
        blockCall(head.number),
        { method: 'eth_getTransactionCount', params: [deps.address, 'latest'] },
        ...askReceipts(hashes),
      ])
      return {
        headIsThere: readBlock(block)?.hash === head.hash,
        usedTxNonces: Number(quantityOf('eth_getTransactionCount', count)),
        receipts: receipts.map(readReceipt),
      }
    },

    async receipts(hashes: readonly TxHash[]): Promise<RelayView['receipts']> {
      return (await rpc.batch(askReceipts(hashes))).map(readReceipt)
    },

    /** Hashes of the blocks at these heights, in order; undefined where there is none. */
    async blockHashes(heights: readonly bigint[]): Promise<readonly (string | undefined)[]> {
      return (await rpc.batch(heights.map(blockCall))).map((answer) => readBlock(answer)?.hash)
    },
  }
}

/**
 * Such a receipt also shows that the node has its head, and no txNonce needs to be counted. The chain need not be asked for: its
 * number is signed, so no other chain can hold a transaction with this hash.
 */
const isIn = (head: BlockRef, hash: TxHash, receipt: RelayView['receipts'][number]): boolean =>
  typeof receipt === 'object' &&
  receipt.transactionHash === hash &&
  receipt.blockNumber === head.number &&
  receipt.blockHash === head.hash
