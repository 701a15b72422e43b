/** Cases that need a long history: spans that no comparison vouches for yet, and a common block far below. */
import { createJsonRpc, type JsonRpc } from '@svc-zerc20/evm'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startWorld, transfers, type World } from '../../test/world.js'
import { type Chain, createChain } from '../chain/chain.js'
import type { LogEvent } from '../events.js'
import { limits } from '../limits.js'
import { type Database, openDatabase } from '../store/database.js'
import { createSync } from './sync.js'

let world: World
let chain: Chain
let database: Database
let events: LogEvent[] = []
let rpc: JsonRpc

beforeEach(async () => {
  world = await startWorld()
  events = []
  const token = parseAddress(world.deployment.token) as Address
  const verifier = parseAddress(world.deployment.verifier) as Address
  rpc = createJsonRpc({ url: world.chain.rpcUrl, ...limits.rpc })
  chain = createChain({ rpc, token, verifier })
  database = await openDatabase({
    folder: world.folder,
    binding: { chainId: world.chain.chainId, token, fromBlock: 0 },
    async start() {
      const [block] = await chain.blocksAt([0])
      if (block === undefined) throw new Error('no genesis')
      return { ...block, size: 0, hashChain: 0n }
    },
  })
})

afterEach(async () => {
  rpc.close()
  await database.close()
  await world.close()
})

const syncOf = (of: Chain) =>
  createSync({ chain: of, database, confirmations: 0, log: (event) => events.push(event), spanBlocksMax: 2 })

async function syncAll(of: Chain): Promise<void> {
  const sync = syncOf(of)
  while ((await sync.step()) === 'moved');
}

test('a lie in an old span is found at the head, and all that was not confirmed goes', async () => {
  for (let block = 0; block < 6; block++) await world.mine(...transfers(1, block))
  const confirmed = database.verified()
  expect(confirmed.size).toBe(0)
  const lying: Chain = {
    ...chain,
    transfers: async (from, to) =>
      (await chain.transfers(from, to)).map((log) => ({ ...log, value: log.value + 1n })),
  }
  await expect(syncAll(lying)).rejects.toMatchObject({ code: 'hash_chain_mismatch' })
  expect(database.head()).toEqual(confirmed)
  expect(events.at(-1)).toMatchObject({ event: 'sync.rolled_back', size: 0 })
  await syncAll(chain)
  expect(database.head().size).toBe(await world.leaves())
  expect(database.verified()).toEqual(database.head())
})

test('a span read across a reorg is read again without an error', async () => {
  await world.mine(...transfers(1))
  await syncAll(chain)
  await world.mine(...transfers(2, 5))
  let reorgs = 1
  const moving: Chain = {
    ...chain,
    async transfers(from, to) {
      const logs = await chain.transfers(from, to)
      if (reorgs-- > 0) {
        await world.chain.reorg(1)
        await world.mine(...transfers(1, 9))
      }
      return logs
    },
  }
  await syncAll(moving)
  await syncAll(moving)
  expect(database.head().size).toBe(await world.leaves())
  expect(database.verified()).toEqual(database.head())
})

test('a branch that is shorter is followed once it differs in what is stored', async () => {
  await world.mine(...transfers(1))
  const snapshot = await world.chain.snapshot()
  await world.mine(...transfers(2, 5))
  await world.chain.mine(3)
  await syncAll(chain)
  const before = database.head()
  await world.chain.revert(snapshot)
  await syncAll(chain)
  // The same blocks, fewer of them: that may be a node that lags.
  expect(database.head()).toEqual(before)
  await world.chain.increaseTime(60)
  await world.mine(...transfers(1, 9))
  await syncAll(chain)
  expect(database.head().size).toBe(await world.leaves())
})

test('fault 18 a head that the node names and does not have is not stored, and hides nothing', async () => {
  await syncAll(chain)
  await world.mine(...transfers(2))
  const ahead: Chain = {
    ...chain,
    async latestAnd(number) {
      const { latest, known } = await chain.latestAnd(number)
      return { latest: { ...latest, number: latest.number + 1 }, known }
    },
  }
  const before = database.head()
  expect(await syncOf(ahead).step()).toBe('idle')
  expect(database.head()).toEqual(before)
  await syncAll(chain)
  expect(database.head().size).toBe(await world.leaves())
})

test('the last common block is found however far down it is', async () => {
  for (let block = 0; block < 70; block++) await world.mine(...transfers(1, block))
  await syncAll(chain)
  const [, common] = database.blocksBefore(Number.MAX_SAFE_INTEGER, 99).toReversed()
  const above = (number: number) => number > (common?.number ?? 0)
  const elsewhere: Chain = {
    ...chain,
    async latestAnd(number) {
      const { latest, known } = await chain.latestAnd(number)
      return { latest, known: known && above(number) ? { ...known, hash: latest.hash, number: -1 } : known }
    },
    blocksAt: async (numbers) =>
      (await chain.blocksAt(numbers)).map((block) => (block && above(block.number) ? undefined : block)),
  }
  await world.chain.mine()
  await syncOf(elsewhere).step()
  expect(database.head()).toEqual(common)
  await syncAll(chain)
  expect(database.head().size).toBe(await world.leaves())
})
