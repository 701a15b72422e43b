/** Tables of an older version, on a server that daemons of two versions use at once. */
import { SvcError } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { challengeOf } from '../../../test/challenges.js'
import { stepSettings } from '../../../test/store.js'
import type { Migration } from '../migrate.js'
import { sql } from '../sql.js'
import type { Store } from '../store.js'
import { openPostgres } from './open-postgres.js'
import { prepareSchema } from './prepare-schema.js'

describe.skipIf(notRun() !== '')(`tables on PostgreSQL${notRun()}`, () => {
  let server: PostgresServer
  let databases = 0
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  const newDatabase = async () => {
    databases += 1
    await server.run(`CREATE DATABASE tables_${databases}`)
    return `tables_${databases}`
  }
  const open = async (database: string, migrations?: readonly Migration[]) => {
    const failures: unknown[] = []
    const store = await openPostgres({
      database: { url: server.url(database), ...(migrations && { migrations }) },
      settings: { steps: stepSettings, keepSigned: { blocks: 12 } },
      clock: stoppedClock(),
      onFailure: (error) => failures.push(error),
      waitMs: 60_000,
    })
    return { store, failures }
  }
  const issue = ({ change }: Store, seed: number) => change('issue', challengeOf(seed))
  const issued = async ({ ask }: Store): Promise<number> =>
    await ask(
      (function* () {
        return (yield sql`SELECT count(*) AS count FROM payment`)[0]?.count
      })(),
    )
  const codesOf = (failures: readonly unknown[]) =>
    failures.map((error) => (error instanceof SvcError ? error.code : 'server'))

  it('refuses a newer schema, and says which version it knows', async () => {
    const database = await newDatabase()
    const { store } = await open(database)
    await store.close()
    await server.run('UPDATE ledger SET schema_version = 999', database)
    await expect(open(database)).rejects.toMatchObject({
      code: 'ledger_newer',
      message: expect.stringMatching(/schema 999.*knows 1/),
    })
  })

  const noted: Migration = {
    what: 'a word about each payment',
    statements: `ALTER TABLE payment ADD COLUMN word TEXT;\nCREATE TABLE word (id INT PRIMARY KEY, nonce KEY);\n`,
    isAdditive: true,
  }
  const version = (database: string) =>
    server.run('SELECT schema_version, writers_from FROM ledger', database)

  it('an older schema is migrated by the start of a newer daemon, while the older one goes on', async () => {
    const database = await newDatabase()
    const older = await open(database)
    expect(await issue(older.store, 1)).toBe('issued')
    const newer = await open(database, [noted])
    expect(await version(database)).toBe('2|1')
    // Both write, in turns and at once.
    expect(await issue(older.store, 2)).toBe('issued')
    expect(await issue(newer.store, 3)).toBe('issued')
    const outcomes = [4, 5, 6, 7].map((seed) => issue(seed % 2 === 0 ? older.store : newer.store, seed))
    expect(await Promise.all(outcomes)).toEqual(Array(4).fill('issued'))
    expect(await issued(older.store)).toBe(7)
    expect(older.failures).toEqual([])
    await older.store.close()
    expect(await issue(newer.store, 8)).toBe('issued')
    expect(await server.run('SELECT count(*), count(word) FROM payment', database)).toBe('8|0')
    expect(await server.run('SELECT count(*), max(seq) FROM event', database)).toBe('8|8')
    await newer.store.close()
    await expect(open(database)).rejects.toMatchObject({ code: 'ledger_newer' })
  })

  it('a daemon writes nothing more once a migration has changed what it depends on', async () => {
    const database = await newDatabase()
    const older = await open(database)
    expect(await issue(older.store, 1)).toBe('issued')
    const migrations = [{ ...noted, isAdditive: false }]
    await prepareSchema({ url: server.url(database), migrations })
    expect(await version(database)).toBe('2|2')
    await expect(issue(older.store, 2)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(codesOf(older.failures)).toEqual(['ledger_newer'])
    expect(older.store.figures().failed).toBe(true)
    await older.store.close()
    const newer = await open(database, migrations)
    expect(await issued(newer.store)).toBe(1)
    await newer.store.close()
  })

  it('daemons that start at once make and migrate the tables once', async () => {
    const database = await newDatabase()
    const done = await Promise.all(
      [1, 2, 3, 4].map(() => prepareSchema({ url: server.url(database), migrations: [noted] })),
    )
    expect(done.filter(({ length }) => length > 0)).toHaveLength(1)
    expect(await version(database)).toBe('2|1')
  })

  it('a migration that fails leaves everything as it was', async () => {
    const database = await newDatabase()
    const { store } = await open(database)
    const migrations = [noted, { ...noted, what: 'the same once more' }]
    await expect(prepareSchema({ url: server.url(database), migrations })).rejects.toThrow(/word/)
    expect(await version(database)).toBe('1|1')
    expect(await issue(store, 1)).toBe('issued')
    await store.close()
  })
})
