/** Reads from the token's logs what the treasury sent to a recipient of fees. */
import { type JsonRpc, readHead, scanLogs, wellFormed } from '@svc-zerc20/evm'
import { type Address, type BaseUnits, parseTxHash, SvcError } from '@svc-zerc20/protocol'
import { pad, toEventSelector } from 'viem/utils'
import type { SentTransfers } from '../../payment/sweep/ports.js'

const transferTopic = toEventSelector('Transfer(address,address,uint256)')

export function createSentTransfers(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly token: Address
  readonly treasury: Address
  /** Blocks that must hold a transfer before it counts as deep. */
  readonly confirmations: number
  readonly logSpanBlocksMax: number
}): SentTransfers {
  const { rpc, token, treasury } = deps
  return async (recipient, fromBlock) => {
    const head = await readHead(rpc)
    const filter = { address: token, topics: [transferTopic, pad(treasury), pad(recipient)] }
    const span = { toBlock: Number(head), spanBlocksMax: deps.logSpanBlocksMax }
    const found = []
    for await (const { logs } of scanLogs(rpc, filter, { fromBlock: Number(fromBlock), ...span })) {
      for (const { transactionHash, blockNumber, data } of logs) {
        const txHash = parseTxHash(transactionHash)
        if (txHash === undefined || blockNumber === undefined) {
          throw new SvcError('rpc_error', 'eth_getLogs: a log without its place')
        }
        const [block, value] = wellFormed('eth_getLogs', () => [BigInt(blockNumber), BigInt(data)])
        const isDeep = head - block + 1n >= BigInt(deps.confirmations)
        found.push({ txHash, blockNumber: block, value: value as BaseUnits, isDeep })
      }
    }
    return found
  }
}
