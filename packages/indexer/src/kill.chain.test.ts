import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createMemoryNodes, createMerkleTree, transferLeaf } from '@svc-zerc20/zk'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../test/support/until.js'
import { indexerCommand } from '../test/command.js'
import { get, post, startWorld, transfers, type World } from '../test/world.js'
import type { Status } from './http/api.js'

let world: World | undefined
const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
  await world?.close()
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function start(of: World): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, indexerCommand(of), { stdio: ['ignore', 'pipe', 'inherit'], env: {} })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as { event: string; url: string }
    if (event.event === 'indexer.ready') return { child, url: event.url }
  }
  throw new Error('the indexer ended before it was ready')
}

/** The size once it has grown, or cannot grow any more. */
const progress = (before: number, now: number, total: number) => (now > before || now === total) && now

const sizeAt = async (url: string) =>
  ((await get(`${url}/status`)).body as Status[])[0]?.tree_synced_index ?? 0

test('killed again and again in the middle of a span, it ends with the tree of the token', async () => {
  world = await startWorld()
  const funded = await world.leaves()
  const sent = Array.from({ length: 5 }, (_, block) => transfers(33, block * 33))
  for (const block of sent) await world.mine(...block)
  const total = funded + 5 * 33
  expect(await world.leaves()).toBe(total)

  const sizes: number[] = []
  for (let kills = 0; kills < 3; kills++) {
    const { child, url } = await start(world)
    const before = await sizeAt(url)
    sizes.push(await until(async () => progress(before, await sizeAt(url), total)))
    await kill(child)
  }
  // Each run went on where the one before was killed.
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b))

  const { child, url } = await start(world)
  expect(await sizeAt(url)).toBeGreaterThanOrEqual(sizes[2] ?? 0)
  await until(async () => (await sizeAt(url)) === total)
  const { chainId, token } = world.deployment
  const { body } = await post(`${url}/proofs`, {
    chain_id: chainId,
    token_address: token,
    target_index: total,
    leaf_indices: [0, total - 1],
  })
  const [first, last] = body as { root: string; siblings: string[] }[]
  const query = new URLSearchParams({
    chain_id: `${chainId}`,
    token_address: token,
    transfer_root: first?.root ?? '',
  })
  expect((await get(`${url}/tree-index?${query}`)).body).toEqual({ tree_index: total })

  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
  const payer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  for (let leaf = 0; leaf < funded; leaf++) tree.append([await leafAt(world, leaf)])
  tree.append(sent.flat().map((transfer) => transferLeaf(2, { from: payer, ...transfer })))
  expect(`0x${tree.rootAt(total).toString(16)}`).toBe(last?.root)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

async function leafAt({ chain, deployment }: World, index: number): Promise<bigint> {
  const topics = [
    '0xb9285eeffc25fae3689fd1d4d3245dbc73f87f3bc8cb50c1de55574221805d0d',
    `0x${index.toString(16).padStart(64, '0')}`,
  ]
  const filter = { address: deployment.token, topics, fromBlock: '0x0', toBlock: 'latest' }
  const [log] = (await chain.request('eth_getLogs', [filter])) as { data: string }[]
  const data = log?.data ?? ''
  return transferLeaf(2, {
    from: `0x${data.slice(26, 66)}`,
    to: `0x${data.slice(90, 130)}`,
    value: BigInt(`0x${data.slice(130)}`),
  })
}
