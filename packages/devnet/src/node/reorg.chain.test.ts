import type { Hex } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { call, rpc } from '../../test/rpc.js'
import { transfer, transfers } from '../../test/transfers.js'
import { developmentRoles } from './accounts.js'
import { type Chain, type ChainOptions, startChain } from './chain.js'

let chain: Chain | undefined

afterEach(async () => {
  await chain?.close()
  chain = undefined
})

async function start(options: ChainOptions = { mining: { mode: 'manual' } }): Promise<Chain> {
  chain = await startChain(options)
  return chain
}

const send = ({ rpcUrl }: Chain, raw: Hex) => rpc<Hex>(rpcUrl, 'eth_sendRawTransaction', [raw])
const receipt = (node: Chain, hash: Hex) =>
  node.request('eth_getTransactionReceipt', [hash]) as Promise<{ blockNumber: Hex; blockHash: Hex } | null>
const height = async (node: Chain) => Number(await node.request('eth_blockNumber'))
const nonce = async (node: Chain) =>
  Number(await node.request('eth_getTransactionCount', [developmentRoles.payer.address, 'latest']))
const hashes = async (node: Chain) => {
  const numbers = Array.from({ length: (await height(node)) + 1 }, (_, number) => number)
  return Promise.all(
    numbers.map(async (number) => {
      const block = await node.request('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
      return (block as { hash: Hex }).hash
    }),
  )
}

async function mineEach(node: Chain, raws: readonly Hex[]): Promise<Hex[]> {
  const sent: Hex[] = []
  for (const raw of raws) {
    sent.push(await send(node, raw))
    await node.mine()
  }
  return sent
}

test('a reorg replaces the last blocks and forgets their transactions', async () => {
  const node = await start()
  const [kept, lost, alsoLost] = (await mineEach(node, await transfers(0, 3))) as [Hex, Hex, Hex]
  const before = await hashes(node)
  expect(await node.reorg(2)).toEqual({ height: 3, transactions: [lost, alsoLost] })
  const after = await hashes(node)
  expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
  expect(after).toHaveLength(before.length)
  expect(after[2]).not.toBe(before[2])
  expect(after[3]).not.toBe(before[3])
  expect(await receipt(node, kept)).not.toBeNull()
  expect(await receipt(node, lost)).toBeNull()
  expect(await node.request('eth_getTransactionByHash', [lost])).toBeNull()
  await node.mine()
  expect(await nonce(node)).toBe(1)
})

test('a reorg that keeps transactions returns them to the mempool, before those that waited', async () => {
  const node = await start()
  const mined = await mineEach(node, await transfers(0, 2))
  const waiting = await send(node, await transfer(2))
  const before = await receipt(node, mined[0] as Hex)
  await node.reorg(2, { keepTransactions: true })
  expect(await receipt(node, mined[0] as Hex)).toBeNull()
  expect(await node.request('eth_getTransactionByHash', [mined[0]])).toMatchObject({ blockHash: null })
  await node.mine()
  const again = await receipt(node, mined[0] as Hex)
  expect(again).toMatchObject({ blockNumber: '0x3' })
  expect(again?.blockHash).not.toBe(before?.blockHash)
  expect(await receipt(node, waiting)).toMatchObject({ blockNumber: '0x3' })
  expect(await nonce(node)).toBe(3)
})

test('with instant mining kept transactions are mined again by themselves', async () => {
  const node = await start({})
  const hash = await send(node, await transfer(0))
  await until(() => receipt(node, hash))
  await rpc(node.rpcUrl, 'dev_reorg', [1, { keepTransactions: true }])
  expect(await until(() => receipt(node, hash))).toMatchObject({ blockNumber: '0x2' })
})

test('an empty block is replaced by another empty block', async () => {
  const node = await start({ mining: { mode: 'manual' }, clock: { now: () => 1_000_000 } })
  await node.mine()
  const seen = new Set(await hashes(node))
  for (let count = 0; count < 3; count++) {
    await node.reorg(1)
    seen.add((await hashes(node))[1] as Hex)
  }
  expect(seen.size).toBe(5)
})

test('a transaction that depended on a lost one waits for its nonce', async () => {
  const node = await start()
  await mineEach(node, [await transfer(0)])
  const orphan = await send(node, await transfer(1))
  await node.reorg(1)
  await node.mine()
  expect(await receipt(node, orphan)).toBeNull()
  await send(node, await transfer(0, { value: 2n }))
  await node.mine()
  expect(await receipt(node, orphan)).not.toBeNull()
})

test('blocks that were asked for can be undone as well', async () => {
  const node = await start()
  await rpc(node.rpcUrl, 'evm_mine')
  await rpc(node.rpcUrl, 'hardhat_mine', ['0x2'])
  expect(await node.reorg(3)).toMatchObject({ height: 3 })
})

test.each([0, 3])('a reorg of %i blocks where two can be undone is refused', async (depth) => {
  const node = await start({ mining: { mode: 'manual' }, reorgDepth: 2 })
  await node.mine(5)
  const { error } = await call(node.rpcUrl, 'dev_reorg', [depth])
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('only 1 to 2') })
  expect(await height(node)).toBe(5)
})

test('a snapshot brings back the blocks, the mempool and the time it had', async () => {
  const node = await start()
  const [mined] = await mineEach(node, [await transfer(0)])
  const waiting = await send(node, await transfer(1))
  const snapshot = await rpc<Hex>(node.rpcUrl, 'evm_snapshot')
  await node.mine(2)
  const late = await send(node, await transfer(2))
  expect(await rpc(node.rpcUrl, 'evm_revert', [snapshot])).toBe(true)
  expect(await height(node)).toBe(1)
  expect(await receipt(node, mined as Hex)).not.toBeNull()
  await node.mine()
  expect(await receipt(node, waiting)).toMatchObject({ blockNumber: '0x2' })
  expect(await node.request('eth_getTransactionByHash', [late])).toBeNull()
  expect(await rpc(node.rpcUrl, 'evm_revert', [snapshot])).toBe(false)
})

test('a reorg below a snapshot uses the snapshot up', async () => {
  const node = await start()
  await node.mine(2)
  const snapshot = await node.snapshot()
  await node.reorg(2)
  expect(await node.revert(snapshot)).toBe(false)
  expect(await height(node)).toBe(2)
})

test('nobody sees a reorg half done', async () => {
  const node = await start()
  await node.mine(40)
  const reorg = node.reorg(40)
  const heights = Array.from({ length: 30 }, () => rpc<Hex>(node.rpcUrl, 'eth_blockNumber'))
  await reorg
  expect(new Set(await Promise.all(heights))).toEqual(new Set(['0x28']))
})
