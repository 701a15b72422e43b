import { verifierAbi } from '@svc-zerc20/contracts'
import { type ChainLog, indexedTransferTopic, type RpcCall } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { encodeAbiParameters, encodeEventTopics, pad, toHex } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import { readChain } from './read-chain.js'

const address = (digit: string) => `0x${digit.repeat(40)}` as Address
const [token, verifier, payer, burnAddress, treasury, relayer] = ['a', 'b', '1', '2', '3', '4'].map(
  address,
) as [Address, Address, Address, Address, Address, Address]
const nobody = address('0')
const hashOf = (number: number) => pad(toHex(number))

const logIn = (block: number, from: Address, topics: readonly unknown[], data: Hex): ChainLog => ({
  address: from,
  topics: topics as string[],
  data,
  transactionHash: hashOf(block),
  blockNumber: toHex(block),
  blockHash: hashOf(block + 1000),
})

const words = (...values: (bigint | Address)[]): Hex =>
  encodeAbiParameters(
    values.map((value) => ({ type: typeof value === 'bigint' ? 'uint256' : 'address' })),
    values,
  )

const transfer = (block: number, leaf: number, from: Address, to: Address, value: bigint) =>
  logIn(block, token, [indexedTransferTopic, hashOf(leaf)], words(from, to, value))

const gr = { chainId: 1n, recipient: pad(treasury), tweak: hashOf(7) }
const teleportData = encodeAbiParameters(
  verifierAbi.find((item) => item.type === 'event' && item.name === 'Teleport')?.inputs.slice(1) as never,
  [60n, false, 2n, 5n, gr] as never,
)

/** A node with one block a transaction: two burns, a root, a batch mint of both, and a single mint. */
const logs: readonly ChainLog[] = [
  transfer(1, 0, payer, burnAddress, 10n),
  transfer(2, 1, payer, address('5'), 50n),
  logIn(
    3,
    verifier,
    encodeEventTopics({ abi: verifierAbi, eventName: 'TransferRootProved', args: { index: 2n } }),
    words(5n),
  ),
  transfer(4, 2, nobody, treasury, 60n),
  logIn(
    4,
    verifier,
    encodeEventTopics({
      abi: verifierAbi,
      eventName: 'BatchCounted',
      args: { recipientHash: 9n, submitter: relayer },
    }),
    words(0n, 2n, 60n),
  ),
  logIn(
    4,
    verifier,
    encodeEventTopics({ abi: verifierAbi, eventName: 'Teleport', args: { to: treasury } }),
    teleportData,
  ),
  transfer(5, 3, nobody, treasury, 60n),
  logIn(
    5,
    verifier,
    encodeEventTopics({ abi: verifierAbi, eventName: 'Teleport', args: { to: treasury } }),
    teleportData,
  ),
]

const node = {
  async batch(calls: readonly RpcCall[]) {
    return calls.map(({ method, params: [first] }) => ({ result: answer(method, first) }))
  },
}

function answer(method: string, first: unknown): unknown {
  if (method === 'eth_getLogs') {
    const { address: of } = first as { address: string }
    return logs.filter((log) => log.address === of)
  }
  if (method === 'eth_getTransactionByHash') return { from: relayer }
  const number = first === 'latest' ? 5 : Number(first)
  return { number: toHex(number), hash: hashOf(number + 1000), timestamp: toHex(number * 10) }
}

describe('a recorded history', () => {
  it('is what the blocks show: transfers, senders, roots, and mints with the range of a batch proof', async () => {
    const view = await readChain({ rpc: node, token, verifier, fromBlock: 0 })
    expect(view.transfers.map(({ leaf, value, time, sender }) => [leaf, value, time, sender])).toEqual([
      [0, 10n, 10, relayer],
      [1, 50n, 20, relayer],
      [2, 60n, 40, relayer],
      [3, 60n, 50, relayer],
    ])
    expect(view.roots).toEqual([{ size: 2, time: 30 }])
    const mint = { to: treasury, value: 60n, sender: relayer, rootSize: 2 }
    expect(view.mints).toEqual([
      { ...mint, leaf: 2, time: 40, range: { start: 0, end: 2 } },
      { ...mint, leaf: 3, time: 50 },
    ])
  })
})
