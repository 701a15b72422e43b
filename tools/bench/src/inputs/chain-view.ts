/** The benchmark's reads of the chain, outside the timed parts. */
import type { ChainStats } from '@svc-zerc20/devnet'
import { type Address, createPublicClient, http, type PublicClient, parseAbiItem, type Transport } from 'viem'

export type ChainView = {
  readonly read: PublicClient<Transport>
  /** Calls and round trips of the node over HTTP so far. */
  stats(): Promise<{ calls: number; roundTrips: number }>
  /** Waits until the account has no unmined transactions, or until a limit, because a stuck queue never empties. */
  drain(account: Address): Promise<void>
  /** Gas costs of an account's transactions in these blocks. */
  spent(account: Address, fromBlock: bigint, toBlock: bigint): Promise<Spent>
  /** How often a payer's tokens moved since a block. */
  transfersOf(token: Address, payer: Address, fromBlock: bigint): Promise<number>
}

export type Spent = { readonly transactions: number; readonly reverted: number; readonly gas: bigint }

const limits = { drainPollsMax: 100, drainPauseMs: 100, callsTogetherMax: 500 } as const

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

export function createChainView(rpcUrl: string): ChainView {
  const read: PublicClient<Transport> = createPublicClient({
    transport: http(rpcUrl, { batch: { batchSize: limits.callsTogetherMax } }),
    cacheTime: 0,
  })

  async function stats(): Promise<{ calls: number; roundTrips: number }> {
    const { calls, httpRequests } = (await read.transport.request({ method: 'dev_stats' })) as ChainStats
    return { calls: Object.values(calls).reduce((sum, count) => sum + count, 0), roundTrips: httpRequests }
  }

  async function drain(account: Address): Promise<void> {
    for (let polls = 0; polls < limits.drainPollsMax; polls++) {
      const [pending, latest] = await Promise.all([
        read.getTransactionCount({ address: account, blockTag: 'pending' }),
        read.getTransactionCount({ address: account, blockTag: 'latest' }),
      ])
      if (pending === latest) return
      await new Promise((resolve) => setTimeout(resolve, limits.drainPauseMs))
    }
  }

  async function spent(account: Address, fromBlock: bigint, toBlock: bigint): Promise<Spent> {
    const numbers = Array.from({ length: Number(toBlock - fromBlock) + 1 }, (_, i) => fromBlock + BigInt(i))
    const blocks = await Promise.all(
      numbers.map((blockNumber) => read.getBlock({ blockNumber, includeTransactions: true })),
    )
    const sent = blocks.flatMap(({ transactions }) =>
      transactions.filter(({ from }) => from.toLowerCase() === account.toLowerCase()),
    )
    const receipts = await Promise.all(sent.map(({ hash }) => read.getTransactionReceipt({ hash })))
    return {
      transactions: receipts.length,
      reverted: receipts.filter(({ status }) => status === 'reverted').length,
      gas: receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n),
    }
  }

  async function transfersOf(token: Address, payer: Address, fromBlock: bigint): Promise<number> {
    const logs = await read.getLogs({
      address: token,
      event: transferEvent,
      args: { from: payer },
      fromBlock,
      toBlock: 'latest',
    })
    return logs.length
  }

  return { read, stats, drain, spent, transfersOf }
}
