import { verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { createJsonRpc, type JsonRpc } from '@svc-zerc20/evm'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createPublicClient, http } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startWorld, transfers, type World } from '../../test/world.js'
import { type Chain, createChain } from '../chain/chain.js'
import type { LogEvent } from '../events.js'
import { limits } from '../limits.js'
import { type Database, openDatabase } from '../store/database.js'
import { createSync } from '../sync/sync.js'
import { type Checkpoints, createCheckpoints } from './checkpoints.js'
import { defaultCeilingGwei, gasPriceCeiling } from './gas-price-ceiling.js'
import { hashChainAt } from './root-step.js'
import { createSender } from './sender.js'

let world: World
let chain: Chain
let database: Database
let checkpoints: Checkpoints
let sync: () => Promise<void>
const ending = new AbortController()
const { signal } = ending
let events: LogEvent[] = []
let rpc: JsonRpc

beforeEach(async () => {
  world = await startWorld()
  events = []
  const { chainId } = world.deployment
  const token = parseAddress(world.deployment.token) as Address
  const verifier = parseAddress(world.deployment.verifier) as Address
  rpc = createJsonRpc({ url: world.chain.rpcUrl, ...limits.rpc })
  chain = createChain({ rpc, token, verifier })
  database = await openDatabase({
    folder: world.folder,
    binding: { chainId, token, fromBlock: 0 },
    async start() {
      const [block] = await chain.blocksAt([0])
      if (block === undefined) throw new Error('no genesis')
      return { ...block, size: 0, hashChain: 0n }
    },
  })
  const { privateKey } = developmentRoles.rootProver
  const ceiling = gasPriceCeiling(defaultCeilingGwei)
  const errors = verifierAbi
  const sender = createSender({ rpc, chainId, privateKey, clock: systemClock, ceiling, errors, limits })
  const log = (event: LogEvent) => events.push(event)
  checkpoints = createCheckpoints({ chain, database, sender, verifier, log, transfersPerCallMax: 20 })
  const follower = createSync({ chain, database, confirmations: 0, log })
  sync = async () => {
    while ((await follower.step()) === 'moved');
  }
})

afterEach(async () => {
  rpc.close()
  await database.close()
  await world.close()
})

const reservedAt = (index: number) =>
  createPublicClient({ transport: http(world.chain.rpcUrl) }).readContract({
    address: world.deployment.verifier,
    abi: verifierAbi,
    functionName: 'reservedHashChains',
    args: [BigInt(index)],
  })

async function leaves(total: number): Promise<void> {
  await world.chain.pauseMining()
  const have = await world.leaves()
  await world.mine(...transfers(total - have, have))
  await world.chain.resumeMining()
  await sync()
}

async function reserve(): Promise<boolean> {
  const state = await chain.verifierNow()
  checkpoints.observe(state)
  return checkpoints.reserveIfDue(state, signal)
}

test('reserves when nothing is ahead of the proved leaves, and again a subtree later', async () => {
  await leaves(3)
  expect(checkpoints.furthest(0)).toBeUndefined()
  expect(await reserve()).toBe(true)
  expect(checkpoints.furthest(0)).toBe(3)
  await leaves(66)
  expect(await reserve()).toBe(false)
  await leaves(67)
  expect(await reserve()).toBe(true)
  expect(checkpoints.furthest(0)).toBe(67)
  expect(await checkpoints.nearest({ newIndex: 1, oldIndex: 0, known: 67 }, signal)).toBe(3)
})

test('a way too long for one transaction is cut into pieces, once', async () => {
  await leaves(67)
  await reserve()
  const at = { newIndex: 5, oldIndex: 0, known: 67 }
  const found = await checkpoints.nearest(at, signal)
  expect(found).toBe(7)
  for (const index of [47, 27, 7]) expect(await reservedAt(index)).toBe(hashChainAt(database, index))
  const count = events.length
  expect(await checkpoints.nearest(at, signal)).toBe(7)
  expect(await checkpoints.nearest({ newIndex: 8, oldIndex: 7, known: 67 }, signal)).toBe(27)
  expect(events).toHaveLength(count)
})

test('a piece never ends before the leaves that are to be proved', async () => {
  await leaves(30)
  await reserve()
  expect(await checkpoints.nearest({ newIndex: 16, oldIndex: 0, known: 30 }, signal)).toBe(16)
})

test('a reservation that a reorg took is not relied on', async () => {
  await leaves(4)
  await reserve()
  await world.chain.reorg(1)
  const at = { newIndex: 4, oldIndex: 0, known: 4 }
  await expect(checkpoints.nearest(at, signal)).rejects.toMatchObject({ code: 'checkpoint_gone' })
  expect(await reserve()).toBe(true)
  expect(await checkpoints.nearest(at, signal)).toBe(4)
})

test('another chain than ours at a checkpoint is named', async () => {
  await leaves(4)
  await reserve()
  // The verifier goes on with the old leaves, the database with others of the same number.
  const [block] = database.blocksBefore(Number.MAX_SAFE_INTEGER, 1)
  expect(block?.size).toBe(4)
  const start = database.blocksBefore(1, 1)
  if (start[0]) await database.truncate(start[0])
  const fake = transfers(4, 500).map(({ to, value }, index) => ({
    index,
    from: to as Address,
    to: to as Address,
    value,
    blockNumber: 1,
    logIndex: index,
    blockHash: block?.hash ?? ('0x' as never),
    transactionHash: (block?.hash ?? '0x') as never,
    hashChain: BigInt(index + 1),
  }))
  const head = { number: 1, hash: block?.hash ?? ('0x' as never), size: 4, hashChain: 4n }
  await database.append(fake, head, false)
  const at = { newIndex: 4, oldIndex: 0, known: 4 }
  await expect(checkpoints.nearest(at, signal)).rejects.toMatchObject({ code: 'reserved_chain_mismatch' })
})
