/** Finds burns on the chain, by its logs and receipts. */
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, resultOf } from '@svc-zerc20/evm'
import {
  type Address,
  type BaseUnits,
  type ChallengeNonce,
  parseAddress,
  parseTxHash,
  type TxHash,
} from '@svc-zerc20/protocol'
import type { ChainReader } from '../../chain/chain.js'
import { readEvents } from '../../chain/past-events.js'
import type { TransferLog } from '../../payment/ports.js'
import type { Burn } from '../../payment/records.js'

/** A burn in an event of the permit burner. */
export type ExecutedBurn = Pick<Burn, 'txHash' | 'blockNumber' | 'blockHash' | 'from' | 'value'> & {
  readonly nonce: ChallengeNonce
  readonly payTo: Address
}

export type BurnSearch = ReturnType<typeof createBurnSearch>

export function createBurnSearch(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly chain: Pick<ChainReader, 'balances' | 'selfTransferFacts'>
  readonly token: Address
  readonly helper: Address | undefined
  /** A block at or before the first one that can hold a burn. */
  readonly fromBlock: number
  /** Transactions in one request. */
  readonly lensQueriesMax: number
}) {
  const { rpc, chain, token, helper, fromBlock } = deps
  return {
    /** The largest transfer to an address, read from its receipt: only one transfer of an address can be minted. */
    async largestTransfer(to: Address): Promise<Burn | undefined> {
      // Nobody can spend from a burn address, so zero means that nothing ever arrived.
      if ((await chain.balances([to]))[0] === 0n) return undefined
      const wanted = {
        address: token,
        abi: tokenAbi,
        eventName: 'Transfer',
        args: { to },
        fromBlock,
      } as const
      const transfers = await readEvents(rpc, wanted)
      const [largest] = transfers.toSorted(
        (a, b) => Number(a.args.value < b.args.value) - Number(a.args.value > b.args.value),
      )
      const txHash = parseTxHash(largest?.transactionHash)
      if (txHash === undefined) return undefined
      const { receipt } = await chain.selfTransferFacts(txHash, to, 1)
      const isIt = (one: TransferLog) => one.to === to && one.value === largest?.args.value
      const transfer = receipt?.succeeded ? receipt.transfers.find(isIt) : undefined
      if (!receipt || !transfer) return undefined
      const { blockNumber, blockHash } = receipt
      const { leafIndex, from, value } = transfer
      return { txHash, blockNumber, blockHash, leafIndex, from, value }
    },

    async executedBurns(): Promise<readonly ExecutedBurn[]> {
      if (!helper) return []
      const wanted = {
        address: helper,
        abi: permitBurnerAbi,
        eventName: 'BurnExecuted',
        args: { token },
      } as const
      const executed = await readEvents(rpc, { ...wanted, fromBlock })
      return executed.flatMap(({ args, transactionHash, blockNumber, blockHash }) => {
        const payTo = parseAddress(args.burnAddress)
        const from = parseAddress(args.payer)
        const txHash = parseTxHash(transactionHash)
        if (!payTo || !from || !txHash || !blockHash) return []
        const nonce = args.challengeNonce as ChallengeNonce
        const value = args.value as BaseUnits
        return [{ nonce, payTo, from, value, txHash, blockHash, blockNumber: BigInt(blockNumber ?? 0) }]
      })
    },

    /** The senders of these transactions, in order; undefined for a transaction that the node does not have. */
    async senders(transactions: readonly TxHash[]): Promise<readonly (Address | undefined)[]> {
      const method = 'eth_getTransactionByHash'
      const senders: (Address | undefined)[] = []
      for (const some of inParts(transactions, deps.lensQueriesMax)) {
        const answers = await rpc.batch(some.map((hash) => ({ method, params: [hash] })))
        senders.push(...answers.map((answer) => parseAddress(Object(resultOf(method, answer)).from)))
      }
      return senders
    },
  }
}

export function* inParts<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size)
}
