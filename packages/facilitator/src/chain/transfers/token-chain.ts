/** The node as following a token needs it: the token in one block, its transfers between blocks, and single facts. */
import { tokenAbi } from '@svc-zerc20/contracts'
import {
  indexedTransferTopic,
  type JsonRpc,
  placedTransfersIn,
  quantityOf,
  type RpcCall,
  readBlockAt,
  readHead,
  scanLogs,
} from '@svc-zerc20/evm'
import { type Address, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import { encodeFunctionData } from 'viem/utils'
import { limits } from '../../config/limits.js'
import type { TransferLog } from '../../payment/ports.js'
import type { Burn } from '../../payment/records.js'

export type PlacedTransfer = TransferLog & Pick<Burn, 'txHash' | 'blockNumber' | 'blockHash'>
export type TokenState = { readonly size: bigint; readonly hashChain: bigint }
export type TokenBlock = { readonly number: number; readonly hash: string; readonly token: TokenState }

export type TokenChain = {
  /** The newest block that is `depth` blocks deep, its own included, and the token in it. */
  deepBlock(depth: number): Promise<TokenBlock>
  /** Hash and time of a block; undefined when the chain does not reach it. */
  block(number: number): Promise<{ readonly hash: string; readonly time: UnixSeconds } | undefined>
  /** The token after a block. Throws where the node has dropped that state. */
  tokenAt(blockHash: string): Promise<TokenState>
  /** Transfers of these blocks, some blocks at a time. */
  transfers(
    fromBlock: number,
    toBlock: number,
  ): AsyncIterable<{ readonly transfers: readonly PlacedTransfer[]; readonly lastBlock: number }>
}

export function createTokenChain(rpc: Pick<JsonRpc, 'batch'>, token: Address): TokenChain {
  const block = (number: number) => readBlockAt(rpc, BigInt(number))

  async function tokenAt(blockHash: string): Promise<TokenState> {
    const ask = (functionName: 'index' | 'hashChain'): RpcCall => ({
      method: 'eth_call',
      params: [{ to: token, data: encodeFunctionData({ abi: tokenAbi, functionName }) }, { blockHash }],
    })
    const [size, hashChain] = await rpc.batch([ask('index'), ask('hashChain')])
    return { size: quantityOf('eth_call', size), hashChain: quantityOf('eth_call', hashChain) }
  }

  return {
    async deepBlock(depth) {
      const number = Math.max(0, Number(await readHead(rpc)) - (depth - 1))
      const found = await block(number)
      if (!found) throw new SvcError('node_behind', `the node has no block ${number}`)
      return { number, hash: found.hash, token: await tokenAt(found.hash) }
    },

    block,
    tokenAt,

    async *transfers(fromBlock, toBlock) {
      const filter = { address: token, topics: [indexedTransferTopic] }
      const blocks = { fromBlock, toBlock, spanBlocksMax: limits.logSpanBlocksMax }
      for await (const { logs, lastBlock } of scanLogs(rpc, filter, blocks)) {
        yield { transfers: placedTransfersIn(logs, token), lastBlock }
      }
    },
  }
}
