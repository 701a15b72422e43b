import { numberToHex } from 'viem'

type Request = (method: string, params: readonly unknown[]) => Promise<unknown>

// Position of the block parameter of each method. A missing or relative block is replaced by the old one.
const blockPosition: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_feeHistory: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
}

/** Answers a call like a node that has not seen the newest blocks. */
export async function answerWithLag(call: {
  method: string
  params: readonly unknown[]
  blocks: number
  request: Request
}): Promise<unknown> {
  const { method, params, request } = call
  const newest = Number(await request('eth_blockNumber', []))
  const known = Math.max(0, newest - call.blocks)
  if (method === 'eth_blockNumber') return numberToHex(known)
  if (method === 'eth_getTransactionReceipt') {
    const receipt = await request(method, params)
    return isAfter(receipt, known) ? null : receipt
  }
  if (method === 'eth_getTransactionByHash') {
    const transaction = await request(method, params)
    if (!isAfter(transaction, known)) return transaction
    return { ...transaction, blockHash: null, blockNumber: null, transactionIndex: null }
  }
  if (method === 'eth_getLogs') {
    const logs = (await request(method, params)) as unknown[]
    return logs.filter((log) => !isAfter(log, known))
  }
  const position = blockPosition[method]
  if (position === undefined) return request(method, params)
  const pinned = [...params]
  pinned[position] = pin(params[position], known)
  return request(method, pinned)
}

function pin(block: unknown, known: number): unknown {
  const moves = block === undefined || ['latest', 'pending', 'safe', 'finalized'].includes(String(block))
  return moves ? numberToHex(known) : block
}

function isAfter(item: unknown, known: number): item is { blockNumber: string } {
  if (typeof item !== 'object' || item === null || !('blockNumber' in item)) return false
  return typeof item.blockNumber === 'string' && Number(item.blockNumber) > known
}
