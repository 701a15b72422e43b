/** A ledger with payments in every phase goes from its files to a server, and its daemon goes on. */
import { join } from 'node:path'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { challengeOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { scriptOf } from '../../../test/ledger-script.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'
import { seededRandom } from '../../../test/seeded-random.js'
import { openTestStore, stepSettings } from '../../../test/store.js'
import { databaseOf } from '../engine/open-database.js'
import { openSqlite } from '../engine/sqlite.js'
import { type MoveDeps, moveToDatabase } from '../move/move-ledger.js'
import { movingTo } from '../move/moved.js'
import { sql } from '../sql.js'
import { openPostgres } from './open-postgres.js'
import { prepareSchema } from './prepare-schema.js'

describe.skipIf(notRun() !== '')(`a ledger that is moved${notRun()}`, () => {
  let server: PostgresServer
  let databases = 0
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  const settings = { steps: stepSettings, keepSigned: { blocks: 12 } }
  const newDatabase = async () => {
    databases += 1
    await server.run(`CREATE DATABASE moved_${databases}`)
    return `moved_${databases}`
  }
  const newPath = () => join(temporaryFolder(), 'journal.jsonl')
  const movesOf = (journal: string, database: string): MoveDeps => ({
    journal,
    database: { url: server.url(database) },
    databaseName: database,
    settings,
    limits: { journalBytesMax: 1 << 23 },
    say: () => undefined,
  })
  const openServer = (database: string, isCopyAccepted = false) =>
    openPostgres({
      database: { url: server.url(database) },
      settings,
      clock: stoppedClock(),
      onFailure: () => undefined,
      waitMs: 60_000,
      isCopyAccepted,
    })
  /** Payments at every step of their way. */
  async function fill(path: string, payments: number): Promise<void> {
    const { store } = await openTestStore({ path })
    const random = seededRandom(payments)
    const groups = scriptOf(payments, (limit) => (random.bytes(1)[0] ?? 0) % limit)
    // Some of them stop on their way.
    for (const { name, args } of groups.slice(0, Math.ceil(groups.length * 0.8)).flat()) {
      await store.change(name, ...(args as never)).catch(() => undefined)
    }
    await store.close()
  }
  const inFile = <T>(path: string, question: (connection: ReturnType<typeof openSqlite>) => T): T => {
    const connection = openSqlite(databaseOf(path), { isReader: true })
    try {
      return question(connection)
    } finally {
      connection.close()
    }
  }
  const stateOf = (path: string) =>
    inFile(path, (each) => each.query(sql`SELECT state FROM ledger`)[0]?.state)
  const idOf = (path: string) => inFile(path, (each) => each.query(sql`SELECT id FROM ledger`)[0]?.id)

  it('is the same afterwards, on the server, under its id', async () => {
    const [here, database] = [newPath(), await newDatabase()]
    await fill(here, 30)
    const copied = await moveToDatabase(movesOf(here, database))
    expect(copied.find(({ table }) => table === 'payment')?.rows).toBe(31)
    for (const { table, rows } of copied) {
      expect(await server.run(`SELECT count(*) FROM ${table}`, database), table).toBe(`${rows}`)
    }
    expect(stateOf(here)).toBe(`moved to ${database}`)
    expect(await server.run('SELECT id, state FROM ledger', database)).toBe(`${idOf(here)}|live`)

    // New payments get new numbers.
    const store = await openServer(database)
    expect(await store.change('issue', challengeOf(900))).toBe('issued')
    await store.close()
    expect(await server.run('SELECT max(id) - count(*) FROM payment', database)).toBe('0')
  })

  it('is not started where it was, and not moved from there again', async () => {
    const [here, database] = [newPath(), await newDatabase()]
    await fill(here, 3)
    await moveToDatabase(movesOf(here, database))
    const refused = { code: 'ledger_old', message: expect.stringContaining(`moved to ${database}`) }
    await expect(openTestStore({ path: here })).rejects.toMatchObject(refused)
    await expect(moveToDatabase(movesOf(here, await newDatabase()))).rejects.toMatchObject(refused)
    // An operator who insists has an old copy.
    const insisted = await openTestStore({ path: here, isCopyAccepted: true })
    expect(insisted.store.isCopy).toBe(true)
    await insisted.close()
  })

  it('is not moved over another ledger', async () => {
    const [here, database] = [newPath(), await newDatabase()]
    await fill(here, 2)
    const other = await openServer(database)
    await other.change('issue', challengeOf(1))
    await expect(moveToDatabase(movesOf(here, database))).rejects.toMatchObject({ code: 'ledger_unusable' })
    await other.close()
    await expect(moveToDatabase(movesOf(here, database))).rejects.toMatchObject({ code: 'ledger_unusable' })
    expect(stateOf(here)).toBe('live')
    expect(await server.run('SELECT state FROM ledger', database)).toBe('live')
  })

  it('tables that were made before, and hold nothing, are a place to move to', async () => {
    const [here, database] = [newPath(), await newDatabase()]
    await prepareSchema({ url: server.url(database) })
    await fill(here, 2)
    await moveToDatabase(movesOf(here, database))
    expect(await server.run('SELECT id FROM ledger', database)).toBe(idOf(here))
  })

  it('a move that was cut off is run again, and only to where it began', async () => {
    const [here, database] = [newPath(), await newDatabase()]
    await fill(here, 3)
    const cutOff = (state: string) => {
      const connection = openSqlite(databaseOf(here))
      connection.query(sql`UPDATE ledger SET state = ${state}`)
      connection.close()
    }
    // Before the server had it.
    cutOff(movingTo(database))
    await expect(openTestStore({ path: here })).rejects.toMatchObject({
      code: 'ledger_old',
      message: expect.stringContaining('not finished'),
    })
    await expect(moveToDatabase(movesOf(here, await newDatabase()))).rejects.toMatchObject({
      code: 'ledger_old',
    })
    expect(await moveToDatabase(movesOf(here, database))).not.toEqual([])
    // When the server had it, and the files did not know.
    cutOff(movingTo(database))
    expect(await moveToDatabase(movesOf(here, database))).toEqual([])
    expect(stateOf(here)).toBe(`moved to ${database}`)
  })

  describe('with a daemon', () => {
    let net: TestNetwork
    let payer: PrivateKeyAccount
    beforeAll(async () => {
      net = await startNetwork()
      payer = await net.account({ gas: true })
    })
    afterAll(() => net.close())

    it('serves what was challenged, claimed and granted before', async () => {
      const database = await newDatabase()
      const self = async (offer: ChallengeOffer) =>
        bodyOf(offer, {
          challengeNonce: offer.challengeNonce,
          burnTxHash: await net.transfer(payer, offer.payTo, offer.amount),
        })
      const first = await startOwnFacilitator(net, { journal: 'before.jsonl' })
      const granted = await first.challenge()
      const grantedBody = bodyOf(granted, await net.permitFor(granted, payer))
      expect(await first.post('/settle', grantedBody)).toMatchObject({ success: true })
      const [burned, open] = [await first.challenge('2000'), await first.challenge('3000')]
      const burnedBody = await self(burned)
      await first.close()
      await moveToDatabase(movesOf(join(net.directory, 'before.jsonl'), database))

      const config = { settlement: { journal: 'none' }, storage: { url: server.url(database) } }
      const second = await startOwnFacilitator(net, { journal: 'server', config })
      try {
        const refused = { success: false, errorReason: 'already_accepted' }
        expect(await second.post('/settle', grantedBody)).toMatchObject(refused)
        expect(await second.post('/settle', burnedBody)).toMatchObject({ success: true })
        const permit = bodyOf(open, await net.permitFor(open, payer))
        expect(await second.post('/settle', permit)).toMatchObject({ success: true })
        expect(await net.burnsOf(open.challengeNonce)).toHaveLength(1)
      } finally {
        await second.close()
      }
    })
  })
})
