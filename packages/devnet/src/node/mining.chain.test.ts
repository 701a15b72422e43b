import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { call, rpc } from '../../test/rpc.js'
import { recipient, transfer, transfers } from '../../test/transfers.js'
import { developmentRoles } from './accounts.js'
import { type Chain, type ChainOptions, startChain } from './chain.js'

let chain: Chain | undefined

afterEach(async () => {
  await chain?.close()
  chain = undefined
})

async function start(options: ChainOptions): Promise<Chain> {
  chain = await startChain(options)
  return chain
}

const send = ({ rpcUrl }: Chain, raw: Hex) => rpc<Hex>(rpcUrl, 'eth_sendRawTransaction', [raw])
const receipt = ({ rpcUrl }: Chain, hash: Hex) =>
  rpc<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', [hash])
const height = async (node: Chain) => Number(await node.request('eth_blockNumber'))
const block = (node: Chain, number: number) =>
  node.request('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]) as Promise<Block>

type Receipt = { blockNumber: Hex; status: Hex }
type Block = { timestamp: Hex; transactions: Hex[]; baseFeePerGas: Hex }

test('instant mining mines a transaction at once, in a block of its own', async () => {
  const node = await start({})
  const hash = await send(node, await transfer(0))
  expect(await until(() => receipt(node, hash))).toMatchObject({ blockNumber: '0x1', status: '0x1' })
  await node.pauseMining()
  expect(await height(node)).toBe(1)
})

test('instant mining leaves no empty block behind, whatever arrives together', async () => {
  const node = await start({})
  const hashes = await Promise.all((await transfers(0, 60)).map((raw) => send(node, raw)))
  for (const hash of hashes) await until(() => receipt(node, hash))
  await node.pauseMining()
  const blocks = await Promise.all(Array.from({ length: await height(node) }, (_, i) => block(node, i + 1)))
  expect(blocks.length).toBeLessThan(60)
  expect(blocks.filter(({ transactions }) => transactions.length === 0)).toEqual([])
  expect(blocks.flatMap(({ transactions }) => transactions)).toHaveLength(60)
})

test('what waited while mining was paused is mined together in one block', async () => {
  const node = await start({})
  await node.pauseMining()
  const hashes = await Promise.all((await transfers(0, 20)).map((raw) => send(node, raw)))
  await node.resumeMining()
  for (const hash of hashes)
    expect(await until(() => receipt(node, hash))).toMatchObject({ blockNumber: '0x1' })
})

test('future nonces are accepted in any order and wait for the gap to close', async () => {
  const node = await start({})
  const [first, ...later] = await transfers(0, 4)
  const waiting = await Promise.all(later.reverse().map((raw) => send(node, raw)))
  await node.pauseMining()
  expect(await height(node)).toBe(0)
  await node.resumeMining()
  waiting.push(await send(node, first as Hex))
  for (const hash of waiting) await until(() => receipt(node, hash))
  expect(await node.request('eth_getTransactionCount', [developmentRoles.payer.address, 'latest'])).toBe(
    '0x4',
  )
})

test('a transaction below the base fee waits without empty blocks until the fee has fallen', async () => {
  const node = await start({})
  const hash = await send(node, await transfer(0, { maxFeeGwei: '0.8' }))
  await node.pauseMining()
  expect(await height(node)).toBe(0)
  await node.resumeMining()
  // The base fee falls from 1 gwei by an eighth a block: 0.875 after one, 0.766 after two.
  await node.mine(2)
  expect(await until(() => receipt(node, hash))).toMatchObject({ status: '0x1' })
})

test('a block too small for all that waits is followed by another at once', async () => {
  const node = await start({})
  await node.pauseMining()
  const account = privateKeyToAccount(developmentRoles.relayer.privateKey)
  const hashes: Hex[] = []
  for (let nonce = 0; nonce < 5; nonce++) {
    const raw = await account.signTransaction({
      type: 'legacy',
      chainId: 31_337,
      nonce,
      // An invalid instruction uses up all gas: 16 million each, three to a block of 60 million.
      data: '0xfe',
      gas: 16_000_000n,
      gasPrice: 10_000_000_000n,
    })
    hashes.push(await send(node, raw))
  }
  await node.resumeMining()
  for (const hash of hashes) await until(() => receipt(node, hash))
  await node.pauseMining()
  expect(await height(node)).toBe(2)
})

test('a transaction its sender cannot pay for is evicted and all others are mined', async () => {
  const node = await start({ balanceWei: 10n ** 18n })
  await node.pauseMining()
  const value = 3n * 10n ** 17n
  const raws = await Promise.all([0, 1, 2, 3, 4].map((nonce) => transfer(nonce, { value })))
  const hashes: Hex[] = []
  for (const raw of raws) hashes.push(await send(node, raw))
  await node.resumeMining()
  for (const hash of hashes.slice(0, 3))
    expect(await until(() => receipt(node, hash))).toMatchObject({ blockNumber: '0x1' })
  await node.pauseMining()
  expect(await height(node)).toBe(1)
  for (const hash of hashes.slice(3))
    expect(await node.request('eth_getTransactionByHash', [hash])).toBeNull()
  const again = await call(node.rpcUrl, 'eth_sendRawTransaction', [raws[3]])
  expect(again.error?.message).toMatch(/^insufficient funds for gas \* price \+ value/)
})

test('one sender out of money does not keep others from being mined', async () => {
  const node = await start({ balanceWei: 10n ** 18n })
  await node.pauseMining()
  const poor = await send(node, await transfer(0, { value: 9n * 10n ** 17n }))
  const poorer = await send(node, await transfer(1, { value: 9n * 10n ** 17n }))
  const account = privateKeyToAccount(developmentRoles.relayer.privateKey)
  const rich = await send(
    node,
    await account.signTransaction({
      type: 'legacy',
      chainId: 31_337,
      nonce: 0,
      to: recipient,
      value: 1n,
      gas: 21_000n,
      // The lowest fee comes last in the block, behind the one that cannot be paid for.
      gasPrice: 1_000_000_000n,
    }),
  )
  await node.resumeMining()
  for (const hash of [poor, rich])
    expect(await until(() => receipt(node, hash))).toMatchObject({ blockNumber: '0x1' })
  expect(await receipt(node, poorer)).toBeNull()
})

test('interval mining mines each interval, also empty blocks', async () => {
  const node = await start({ mining: { mode: 'interval', intervalMs: 5 } })
  await until(async () => (await height(node)) >= 3)
  const hash = await send(node, await transfer(0))
  expect(await until(() => receipt(node, hash))).toMatchObject({ status: '0x1' })
  await node.pauseMining()
  const paused = await height(node)
  expect((await block(node, 1)).transactions).toEqual([])
  await send(node, await transfer(1))
  expect(await height(node)).toBe(paused)
  await node.resumeMining()
  await until(async () => (await height(node)) > paused)
})

test('manual mining mines only what is asked for', async () => {
  const node = await start({ mining: { mode: 'manual' } })
  const hash = await send(node, await transfer(0))
  expect(await height(node)).toBe(0)
  expect(await node.mine(3)).toBe(3)
  expect(await receipt(node, hash)).toMatchObject({ blockNumber: '0x1' })
})

test('block times follow the clock in seconds and never go back', async () => {
  const clock = { ms: 1_000_000, now: () => clock.ms }
  const node = await start({ clock, mining: { mode: 'manual' } })
  const timestamp = async (number: number) => Number((await block(node, number)).timestamp)
  await node.mine()
  clock.ms += 400
  await node.mine()
  clock.ms += 5_000
  await node.mine()
  clock.ms -= 100_000
  await node.mine()
  expect(await Promise.all([0, 1, 2, 3, 4].map(timestamp))).toEqual([1_000, 1_000, 1_000, 1_005, 1_005])
  await rpc(node.rpcUrl, 'evm_increaseTime', [200])
  await rpc(node.rpcUrl, 'evm_mine')
  expect(await timestamp(5)).toBe(905 + 200)
  await rpc(node.rpcUrl, 'evm_setNextBlockTimestamp', [9_000])
  await rpc(node.rpcUrl, 'evm_mine')
  await rpc(node.rpcUrl, 'evm_mine', [{ blocks: 2 }])
  expect([await timestamp(6), await timestamp(8)]).toEqual([9_000, 9_000])
})

test('a stuck transaction is replaced by one with a raised fee, and only by that', async () => {
  const node = await start({})
  await node.pauseMining()
  const stuck = await send(node, await transfer(0))
  const again = await call(node.rpcUrl, 'eth_sendRawTransaction', [await transfer(0)])
  expect(again.error?.message).toBe('already known')
  const cheap = await call(node.rpcUrl, 'eth_sendRawTransaction', [await transfer(0, { maxFeeGwei: '10.5' })])
  expect(cheap.error?.message).toBe('replacement transaction underpriced')
  const bumped = await send(node, await transfer(0, { maxFeeGwei: '11' }))
  await node.resumeMining()
  expect(await until(() => receipt(node, bumped))).toMatchObject({ status: '0x1' })
  expect(await receipt(node, stuck)).toBeNull()
  const late = await call(node.rpcUrl, 'eth_sendRawTransaction', [await transfer(0)])
  expect(late.error?.message).toBe('nonce too low: next nonce 1, tx nonce 0')
})

test('an evicted transaction is unknown to the node and can be sent again', async () => {
  const node = await start({})
  await node.pauseMining()
  const [first, second] = await transfers(0, 2)
  const hashes = [await send(node, first as Hex), await send(node, second as Hex)]
  expect(await rpc(node.rpcUrl, 'dev_dropPending')).toEqual(hashes)
  expect(await node.request('eth_getTransactionByHash', [hashes[0]])).toBeNull()
  await node.resumeMining()
  await send(node, first as Hex)
  expect(await until(() => receipt(node, hashes[0] as Hex))).toMatchObject({ status: '0x1' })
  expect(await receipt(node, hashes[1] as Hex)).toBeNull()
})

test('tools that switch automine off and on pause and resume the mining', async () => {
  const node = await start({})
  await rpc(node.rpcUrl, 'evm_setAutomine', [false])
  const hash = await send(node, await transfer(0))
  expect(await height(node)).toBe(0)
  await rpc(node.rpcUrl, 'evm_setAutomine', [true])
  expect(await until(() => receipt(node, hash))).toMatchObject({ status: '0x1' })
})

test('a transfer reaches its recipient', async () => {
  const node = await start({})
  const before = BigInt((await node.request('eth_getBalance', [recipient, 'latest'])) as Hex)
  const hash = await send(node, await transfer(0, { value: 5n }))
  await until(() => receipt(node, hash))
  expect(BigInt((await node.request('eth_getBalance', [recipient, 'latest'])) as Hex)).toBe(before + 5n)
})
