import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Bytes32, TxHash } from '@svc-zerc20/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ChainedTransfer, type Database, openDatabase } from '../store/database.js'
import { registerApi } from './api.js'
import { createServer } from './server.js'

let folder: string
let database: Database

const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Bytes32
const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
const [token, chainId] = [address(1), 31_337]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-indexer-'))
  database = await openDatabase({
    folder,
    binding: { chainId, token, fromBlock: 1 },
    start: async () => ({ number: 0, hash: hash(0), size: 0, hashChain: 0n }),
  })
})

afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

test('an answer has a thousand events in all, the recipients in front first', async () => {
  const each = 400
  const transfers: ChainedTransfer[] = Array.from({ length: 3 * each }, (_, index) => ({
    index,
    from: address(7),
    to: address(100 + (index % 3)),
    value: 1n,
    blockNumber: 1,
    blockHash: hash(1),
    transactionHash: hash(1) as string as TxHash,
    logIndex: index,
    hashChain: BigInt(index + 1),
  }))
  await database.append(transfers, { number: 1, hash: hash(1), size: 3 * each, hashChain: 1n }, true)
  const app = createServer({ log: () => undefined })
  registerApi(app, { database, chainId, token, status: () => expect.unreachable('nobody asks') })
  const recipients = [102, 100, 101, 103].map(address)
  const { statusCode, body } = await app.inject({
    url: '/all-events',
    query: { recipients: recipients.join(','), limit: '1000' },
  })
  expect(statusCode).toBe(200)
  const events = JSON.parse(body) as { to: string; event_index: number }[]
  const counts = recipients.map((to) => events.filter((event) => event.to.toLowerCase() === to).length)
  expect(counts).toEqual([400, 400, 200, 0])
  expect(events[0]?.event_index).toBe(2)
  await app.close()
})
