/** The benchmark's reads of the chain, outside the timed parts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainStats } from '@svc-zerc20/devnet'
import { type Address, createPublicClient, http, type PublicClient, parseAbiItem, type Transport } from 'viem'

export type ChainView = {
  readonly read: PublicClient<Transport>
  /** Calls that the node got over HTTP so far. */
  calls(): Promise<number>
  /** Resolves when a block came, at most 10 ms ago. */
  nextBlock(): Promise<void>
  /** Waits until the account has no unmined transactions, or until a limit, because a stuck queue never empties. */
  drain(account: Address): Promise<void>
  /** Gas costs of an account's transactions in these blocks. */
  spent(account: Address, fromBlock: bigint, toBlock: bigint): Promise<Spent>
  /** From whom tokens moved since a block, in lower case, once for each time. */
  payersSince(token: Address, fromBlock: bigint): Promise<string[]>
}

type Spent = { readonly reverted: number; readonly gas: bigint }

/** `timeoutMs`: of a reference that is given too much, hundreds of requests ask the node on after the load is over. */
const limits = {
  drainPollsMax: 100,
  drainPauseMs: 100,
  blockPauseMs: 10,
  callsTogetherMax: 500,
  timeoutMs: 120_000,
} as const

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

export function createChainView(rpcUrl: string): ChainView {
  const read: PublicClient<Transport> = createPublicClient({
    transport: http(rpcUrl, { batch: { batchSize: limits.callsTogetherMax }, timeout: limits.timeoutMs }),
    cacheTime: 0,
  })

  async function calls(): Promise<number> {
    const stats = (await read.transport.request({ method: 'dev_stats' })) as ChainStats
    return Object.values(stats.calls).reduce((sum, count) => sum + count, 0)
  }

  async function nextBlock(): Promise<void> {
    const before = await read.getBlockNumber()
    while ((await read.getBlockNumber()) === before) await sleep(limits.blockPauseMs)
  }

  async function drain(account: Address): Promise<void> {
    for (let polls = 0; polls < limits.drainPollsMax; polls++) {
      const [pending, latest] = await Promise.all([
        read.getTransactionCount({ address: account, blockTag: 'pending' }),
        read.getTransactionCount({ address: account, blockTag: 'latest' }),
      ])
      if (pending === latest) return
      await sleep(limits.drainPauseMs)
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
      reverted: receipts.filter(({ status }) => status === 'reverted').length,
      gas: receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n),
    }
  }

  async function payersSince(token: Address, fromBlock: bigint): Promise<string[]> {
    const logs = await read.getLogs({
      address: token,
      event: transferEvent,
      fromBlock,
      toBlock: 'latest',
      strict: true,
    })
    return logs.map(({ args }) => args.from.toLowerCase())
  }

  return { read, calls, nextBlock, drain, spent, payersSince }
}
