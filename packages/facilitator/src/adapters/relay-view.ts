/** What the node shows of one key's transactions, judged for sense before it is believed. */
import { type Address, parseBytes32, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { toHex } from 'viem/utils'
import { baseFeeOf } from './fees.js'
import { type JsonRpc, quantityOf, type RpcAnswer, resultOf, wellFormed } from './json-rpc.js'
import { parseReceipt, type Receipt } from './transfer-log.js'

export type Head = { readonly number: bigint; readonly hash: string; readonly baseFee: bigint }

export type RelayView = {
  /** Nonces below this one are used on chain. */
  readonly usedNonces: number
  /** Of the hashes asked for, in order. `unreadable`: the node did not say whether there is a receipt. */
  readonly receipts: readonly (Receipt | undefined | 'unreadable')[]
}

/** Each is one round trip. */
export type RelayReader = {
  /** The cheapest question: while its answer stays the same, nothing was mined. */
  head(): Promise<Head>
  /** Throws when the node answers for another chain. */
  view(hashes: readonly TxHash[]): Promise<RelayView>
  receipts(hashes: readonly TxHash[]): Promise<RelayView['receipts']>
  /** Hashes of the blocks at these heights, in order; undefined where there is none. */
  blockHashes(heights: readonly bigint[]): Promise<readonly (string | undefined)[]>
}

export function createRelayReader(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  address: Address
  chainId: number
  onUnreadable: (err: unknown) => void
}): RelayReader {
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

  return {
    async head() {
      const [answer] = await rpc.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
      const block = resultOf('eth_getBlockByNumber', answer)
      const hash = hashOf(block)
      if (hash === undefined) throw new SvcError('rpc_error', 'eth_getBlockByNumber: there is no head')
      const number = wellFormed('eth_getBlockByNumber', () => BigInt((block as { number: string }).number))
      return { number, hash, baseFee: baseFeeOf(block) }
    },

    async view(hashes) {
      const [chainId, count, ...receipts] = await rpc.batch([
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getTransactionCount', params: [deps.address, 'latest'] },
        ...askReceipts(hashes),
      ])
      const answering = quantityOf('eth_chainId', chainId)
      // Nonces of another chain would make every transaction of ours look lost.
      if (answering !== BigInt(deps.chainId)) {
        throw new SvcError('wrong_chain', `the RPC answers for chain ${answering}, not ${deps.chainId}`)
      }
      return {
        usedNonces: Number(quantityOf('eth_getTransactionCount', count)),
        receipts: hashes.map((_, i) => readReceipt(receipts[i])),
      }
    },

    async receipts(hashes) {
      return (await rpc.batch(askReceipts(hashes))).map(readReceipt)
    },

    async blockHashes(heights) {
      const answers = await rpc.batch(
        heights.map((height) => ({ method: 'eth_getBlockByNumber', params: [toHex(height), false] })),
      )
      return answers.map((answer) => hashOf(resultOf('eth_getBlockByNumber', answer)))
    },
  }
}

/** Undefined for no block; anything else without a hash is the node's failure. */
function hashOf(block: unknown): string | undefined {
  if (block === null || block === undefined) return undefined
  const hash = parseBytes32((block as { hash?: unknown }).hash)
  if (hash === undefined) throw new SvcError('rpc_error', 'eth_getBlockByNumber: a block without its hash')
  return hash
}
