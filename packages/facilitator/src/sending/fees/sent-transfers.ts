/** Reads from the token's logs what the treasury sent to a recipient of fees. */
import { tokenAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, readHead } from '@svc-zerc20/evm'
import { type Address, type BaseUnits, parseTxHash, SvcError } from '@svc-zerc20/protocol'
import { readEvents } from '../../chain/past-events.js'
import type { SentTransfers } from '../../payment/sweep/ports.js'
import { countTransactions } from '../relayer/tx-nonces.js'

export function createSentTransfers(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly token: Address
  readonly treasury: Address
  /** Blocks that must hold a transfer before it counts as deep. */
  readonly confirmations: number
}): SentTransfers {
  const { rpc, token, treasury } = deps

  /**
   * Throws while a transaction of the treasury waits for a block: it may be a sweep that a copy of the ledger lacks, and
   * no log shows it yet. Asked before the logs are read, so that one that is mined in between is found there.
   */
  async function assertNoneWaits(): Promise<void> {
    const [known, mined] = [
      await countTransactions(rpc, treasury, 'pending'),
      await countTransactions(rpc, treasury, 'latest'),
    ]
    if (known <= mined) return
    throw new SvcError(
      'transaction_stuck',
      `a transaction of the treasury that the ledger does not know waits for a block, with txNonce ${mined}`,
    )
  }

  return async (recipient, fromBlock) => {
    await assertNoneWaits()
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
