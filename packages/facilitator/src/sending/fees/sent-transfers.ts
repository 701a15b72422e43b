/** Reads from the token's logs what the treasury sent to a recipient of fees. */
import { tokenAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, readHead } from '@svc-zerc20/evm'
import { type Address, type BaseUnits, parseTxHash, SvcError } from '@svc-zerc20/protocol'
import { readEvents } from '../../chain/events.js'
import type { SentTransfers } from '../../payment/sweep/ports.js'

export function createSentTransfers(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly token: Address
  readonly treasury: Address
  /** Blocks that must hold a transfer before it counts as deep. */
  readonly confirmations: number
}): SentTransfers {
  const { rpc, token, treasury } = deps
  return async (recipient, fromBlock) => {
    const head = await readHead(rpc)
    const transfers = await readEvents(rpc, {
      address: token,
      abi: tokenAbi,
      eventName: 'Transfer',
      args: { from: treasury, to: recipient },
      fromBlock: Number(fromBlock),
      toBlock: Number(head),
    })
    return transfers.map(({ transactionHash, blockNumber: block, args }) => {
      const txHash = parseTxHash(transactionHash)
      if (txHash === undefined || block === null) {
        throw new SvcError('rpc_error', 'eth_getLogs: a log without its place')
      }
      const blockNumber = BigInt(block)
      const isDeep = head - blockNumber + 1n >= BigInt(deps.confirmations)
      return { txHash, blockNumber, value: args.value as BaseUnits, isDeep }
    })
  }
}
