import { createMemoryNodes, createMerkleTree, nextHashChain, transferLeaf } from '@svc-zerc20/zk'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { startWorld, transfers, type World } from '../../test/world.js'
import type { LogEvent } from '../events.js'
import { createIndexer, type Indexer, type IndexerOptions } from '../indexer.js'

let world: World
let indexers: Indexer[] = []
let events: LogEvent[] = []

beforeEach(async () => {
  world = await startWorld()
  events = []
})

afterEach(async () => {
  for (const indexer of indexers.splice(0)) await indexer.close()
  await world.close()
})

async function start(options: Partial<IndexerOptions> = {}): Promise<Indexer> {
  const { chainId, token, verifier, fromBlock } = world.deployment
  const indexer = await createIndexer({
    rpcUrl: world.chain.rpcUrl,
    chainId,
    token,
    verifier,
    fromBlock: Number(fromBlock),
    folder: world.folder,
    pollMs: 5,
    log: (event) => events.push(event),
    ...options,
  })
  indexers.push(indexer)
  return indexer
}

async function stop(indexer: Indexer): Promise<void> {
  indexers = indexers.filter((other) => other !== indexer)
  await indexer.close()
}

const height = async () => Number(await world.chain.request('eth_blockNumber'))

/** Waits until the indexer has read the newest block. */
async function caughtUp(indexer: Indexer): Promise<void> {
  const block = await height()
  await until(() => indexer.status().synced_block === block)
}

const count = (method: string) => world.chain.stats().calls[method] ?? 0
const failuresOf = (code: string) =>
  events.filter((event) => event.event === 'sync.failed' && event.code === code)

test('follows the token and computes its root and hash chain at every size', async () => {
  const indexer = await start()
  await world.mine(...transfers(3))
  await world.mine(...transfers(5, 3))
  await caughtUp(indexer)
  const size = await world.leaves()
  expect(indexer.status()).toMatchObject({
    tree_synced_index: size,
    events_synced_index: size - 1,
    sync_error: null,
  })

  const logs = (await world.chain.request('eth_getLogs', [
    { address: world.deployment.token, fromBlock: '0x0', toBlock: 'latest' },
  ])) as { topics: string[]; data: string }[]
  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
  let chain = 0n
  for (const { topics, data } of logs.filter((log) => log.topics[0]?.startsWith('0xb9285eef'))) {
    const index = Number(topics[1])
    const from = `0x${data.slice(26, 66)}` as const
    const to = `0x${data.slice(90, 130)}` as const
    const transfer = { from, to, value: BigInt(`0x${data.slice(130)}`) }
    chain = nextHashChain(2, chain, transfer)
    tree.append([transferLeaf(2, transfer)])
    const proofs = await fetch(`${indexer.url}/proofs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        chain_id: world.deployment.chainId,
        token_address: world.deployment.token,
        target_index: index + 1,
        leaf_indices: [index],
      }),
    })
    const [proof] = (await proofs.json()) as { root: string; hash_chain: string; siblings: string[] }[]
    const { root, siblings } = tree.pathAt(index, index + 1)
    expect(proof).toMatchObject({ root: `0x${root.toString(16)}`, hash_chain: `0x${chain.toString(16)}` })
    expect(proof?.siblings.map(BigInt)).toEqual(siblings)
  }
  expect(tree.size()).toBe(size)
})

test('a restart reads no block a second time', async () => {
  const first = await start()
  await world.mine(...transfers(4))
  await caughtUp(first)
  const { tree_synced_index: size } = first.status()
  await stop(first)

  const before = count('eth_getLogs')
  const second = await start()
  expect(second.status().tree_synced_index).toBe(size)
  await until(() => second.status().onchain_proved_index !== null)
  expect(count('eth_getLogs')).toBe(before)

  await world.mine(...transfers(1, 9))
  await caughtUp(second)
  expect(count('eth_getLogs')).toBe(before + 1)
  expect(second.status().tree_synced_index).toBe((size ?? 0) + 1)
})

test('a reorg takes its transfers back, and what comes instead is read', async () => {
  const indexer = await start()
  await world.mine(...transfers(2))
  await world.mine(...transfers(3, 10))
  await world.mine(...transfers(3, 20))
  await caughtUp(indexer)
  const before = indexer.status()
  await world.chain.reorg(2)
  await world.mine(...transfers(4, 30))
  await until(async () => indexer.status().synced_block === (await height()))
  const size = await world.leaves()
  expect(size).toBe((before.tree_synced_index ?? 0) - 6 + 4)
  expect(indexer.status()).toMatchObject({ tree_synced_index: size, sync_error: null })
  expect(events.find(({ event }) => event === 'sync.reorg')).toMatchObject({ dropped: 6 })
  expect(await transfersTo(indexer, transfers(1, 20)[0]?.to)).toEqual([])
  expect(await transfersTo(indexer, transfers(1, 31)[0]?.to)).toHaveLength(1)
})

async function transfersTo(indexer: Indexer, to = ''): Promise<unknown> {
  const { chainId, token } = world.deployment
  const query = new URLSearchParams({ chain_id: `${chainId}`, token_address: token, to })
  return (await fetch(`${indexer.url}/events?${query}`)).json()
}

test('a reorg that happened while it was stopped is found at the next start', async () => {
  const first = await start()
  await world.mine(...transfers(2))
  await world.mine(...transfers(2, 5))
  await caughtUp(first)
  await stop(first)
  await world.chain.reorg(1)
  await world.mine(...transfers(1, 50))
  const second = await start()
  await caughtUp(second)
  expect(second.status()).toMatchObject({ tree_synced_index: await world.leaves(), sync_error: null })
})

test('waits for the confirmations it was told to', async () => {
  const indexer = await start({ confirmations: 3 })
  await world.mine(...transfers(1))
  const mined = await height()
  await world.chain.mine(2)
  await until(() => indexer.status().synced_block === mined - 1)
  const before = indexer.status().tree_synced_index ?? 0
  await world.chain.mine()
  await until(() => indexer.status().synced_block === mined)
  expect(indexer.status().tree_synced_index).toBe(before + 1)
})

test('fault 18 a node that leaves transfers out is named, and nothing of what it said is kept', async () => {
  const indexer = await start()
  await world.mine(...transfers(2))
  await caughtUp(indexer)
  const { tree_synced_index: size } = indexer.status()
  world.chain.setFaults([{ method: 'eth_getLogs', kind: 'result', value: [] }])
  await world.mine(...transfers(2, 5))
  await until(() => failuresOf('token_index_mismatch').length > 0)
  expect(indexer.status()).toMatchObject({ tree_synced_index: size })
  expect(indexer.status().sync_error).toContain('token_index_mismatch')
  world.chain.setFaults([])
  await caughtUp(indexer)
  expect(indexer.status()).toMatchObject({ tree_synced_index: await world.leaves(), sync_error: null })
})

test('fault 18 a node that changes a transfer does not lead to the hash chain of the token', async () => {
  const indexer = await start()
  await caughtUp(indexer)
  const { tree_synced_index: size } = indexer.status()
  const from = (await height()) + 1
  await world.chain.setFaults([{ method: 'eth_getLogs', kind: 'error' }])
  await world.mine(...transfers(1))
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${from.toString(16)}` }
  const topics = ['0xb9285eeffc25fae3689fd1d4d3245dbc73f87f3bc8cb50c1de55574221805d0d']
  const logs = (await world.chain.request('eth_getLogs', [
    { address: world.deployment.token, topics, ...range },
  ])) as { data: string }[]
  const altered = logs.map((log) => ({ ...log, data: log.data.replace(/.$/, '9') }))
  expect(altered).not.toEqual(logs)
  world.chain.setFaults([{ method: 'eth_getLogs', kind: 'result', value: altered }])
  await until(() => failuresOf('hash_chain_mismatch').length > 0)
  expect(indexer.status()).toMatchObject({ tree_synced_index: size })
  world.chain.setFaults([{ method: 'eth_getLogs', kind: 'result', value: [...logs, ...logs] }])
  await until(() => failuresOf('transfers_not_contiguous').length > 0)
  world.chain.setFaults([])
  await caughtUp(indexer)
  expect(indexer.status()).toMatchObject({ tree_synced_index: await world.leaves(), sync_error: null })
})

test('fault 18 a node that is down, on another chain or behind stops nothing that is stored', async () => {
  const indexer = await start()
  await world.mine(...transfers(2))
  await caughtUp(indexer)
  const before = indexer.status().tree_synced_index
  world.chain.setFaults([{ method: '*', kind: 'httpStatus', status: 503 }])
  await until(() => failuresOf('rpc_unreachable').length > 0)
  expect((await fetch(`${indexer.url}/healthz`)).status).toBe(200)
  expect(indexer.status().tree_synced_index).toBe(before)
  world.chain.setFaults([{ method: '*', kind: 'lag', blocks: 3 }])
  await until(() => indexer.status().sync_error === null)
  expect(indexer.status().tree_synced_index).toBe(before)
  await stop(indexer)

  world.chain.setFaults([{ method: 'eth_chainId', kind: 'result', value: '0x1' }])
  const again = await start()
  await until(() => failuresOf('wrong_chain').length > 0)
  expect(again.status().tree_synced_index).toBe(before)
})

test('reads a long span in pieces when the node refuses it whole', async () => {
  for (let block = 0; block < 4; block++) await world.mine(...transfers(2, block * 2))
  world.chain.setFaults([{ method: 'eth_getLogs', kind: 'error', message: 'too many results', times: 3 }])
  const indexer = await start()
  await caughtUp(indexer)
  expect(indexer.status()).toMatchObject({ tree_synced_index: await world.leaves(), sync_error: null })
  expect(events.filter(({ event }) => event === 'sync.failed')).toEqual([])
})

test('a folder serves one process and one token', async () => {
  const indexer = await start()
  await expect(start()).rejects.toMatchObject({ code: 'folder_locked' })
  await stop(indexer)
  await expect(start({ token: world.deployment.hub })).rejects.toMatchObject({
    code: 'folder_of_another_token',
  })
})

test('a folder whose chain is gone says so', async () => {
  const indexer = await start()
  await world.mine(...transfers(1))
  await caughtUp(indexer)
  await stop(indexer)
  const other = await startWorld({ genesisTime: 1_700_000_000 })
  try {
    await other.chain.mine(await height())
    await start({ rpcUrl: other.chain.rpcUrl })
    await until(() => failuresOf('chain_replaced').length > 0)
  } finally {
    await other.close()
  }
})
