/** A miner elsewhere: it has its own puzzles and role, and daemons believe no address before they derived it. */
import { Readable } from 'node:stream'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { hexOf } from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  notRun,
  type PostgresServer,
  runStatements,
  startPostgres,
} from '../../../../../test/support/postgres-server.js'
// The built file, because worker threads can only load those.
import { mineAddresses } from '../../../dist/commands/mine/mine.js'
import { addressOf } from '../../../test/challenges.js'
import { createAddressMaker, createPuzzle } from '../../addresses/address-maker.js'
import { parsePuzzle, printPuzzle } from '../../addresses/puzzles.js'
import type { ReadyAddress } from '../../payment/ports.js'
import { systemRandom } from '../../system.js'
import { decode } from '../stored.js'
import { prepareSchema } from './prepare-schema.js'
import { openReadyTable } from './ready.js'

const seed = new Uint8Array(32).fill(7)
const terms = { generation: 2, powBits: 4, chainId: 31337, treasury: addressOf(9), seed } as const
const epochAt = (nowMs: number) => ({ ledger: 'ab'.repeat(16), start: Math.floor(nowMs / 3_600_000) * 3_600 })

describe('a puzzle', () => {
  const puzzle = createPuzzle({ terms, random: systemRandom, clock: { now: () => 1e12 }, epochAt })

  it('is a line that says the same when it is read, and holds neither the seed nor the treasury', () => {
    const line = printPuzzle(puzzle)
    expect(parsePuzzle(line)).toEqual(puzzle)
    for (const secret of [hexOf(seed).slice(2), BigInt(hexOf(seed)).toString(), terms.treasury.slice(2)]) {
      expect(line.toLowerCase()).not.toContain(secret.toLowerCase())
    }
  })

  it.each(['', '{}', 'null', printPuzzle(puzzle).replace('"generation":2', '"generation":3')])(
    'is refused without being shown: %s',
    (line) => {
      expect(() => parsePuzzle(line)).toThrow(/^a line is no puzzle of/)
    },
  )
})

describe.skipIf(notRun() !== '')(`a miner${notRun()}`, () => {
  let server: PostgresServer
  let url: string
  beforeAll(async () => {
    server = await startPostgres()
    await server.run('CREATE DATABASE mined')
    await prepareSchema({ url: server.url('mined') })
    await server.run(
      'CREATE ROLE miner LOGIN; GRANT INSERT (nonce, record), SELECT (id) ON ready TO miner',
      'mined',
    )
    url = server.url('mined').replace('svc@', 'miner@')
  })
  afterAll(() => server.close())

  const mine = async (puzzles: number, full: number, stopped = new AbortController().signal) => {
    const table = openReadyTable({ url })
    const lines = Array.from({ length: puzzles }, () =>
      printPuzzle(createPuzzle({ terms, random: systemRandom, clock: systemClock, epochAt })),
    )
    try {
      const input = Readable.from(lines.map((line) => `${line}\n`))
      const say = () => undefined
      return await mineAddresses({ input, table, threads: 2, full, clock: systemClock, stopped, say })
    } finally {
      await table.close()
    }
  }
  const ready = async (): Promise<readonly ReadyAddress[]> =>
    (await server.run('SELECT record FROM ready ORDER BY id', 'mined'))
      .split('\n')
      .map((record) => decode<ReadyAddress>(record))

  it('fills the table with addresses that daemons derive again', async () => {
    expect(await mine(12, 100)).toMatch(/^12 addresses in [\d.]+ s: [\d.]+ a second$/)
    const { restore } = createAddressMaker({
      terms,
      miner: { mine: () => Promise.reject(new Error('not here')) },
      random: systemRandom,
      clock: systemClock,
      epochAt,
    })
    const mined = await ready()
    expect(mined).toHaveLength(12)
    for (const address of mined) {
      expect(restore(address)).toEqual(address)
      expect(restore({ ...address, payTo: addressOf(1) })).toBeUndefined()
    }
  })

  it('rests while the table is full', async () => {
    const stopping = new AbortController()
    const mining = mine(5, 12, stopping.signal)
    await server.run('DELETE FROM ready WHERE id = (SELECT min(id) FROM ready)', 'mined')
    while ((await server.run('SELECT count(*) FROM ready', 'mined')) === '11') await systemClock.sleep(20)
    stopping.abort()
    // Both threads may have seen the free place.
    expect(await mining).toMatch(/^[12] addresses/)
  })

  it.each([
    'SELECT record FROM ready',
    'DELETE FROM ready',
    'UPDATE ready SET record = record',
    'SELECT record FROM payment',
    'SELECT id FROM ledger',
  ])('may not %s', async (statement) => {
    await expect(runStatements(url, statement)).rejects.toThrow(/permission denied/)
  })
})
