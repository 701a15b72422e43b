/** The store on a server that dies, restarts and changes hands. What is told is there afterwards, once. */
import { SvcError } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { until } from '../../../../../test/support/until.js'
import { challengeOf } from '../../../test/challenges.js'
import { stepSettings } from '../../../test/store.js'
import { sql } from '../sql.js'
import type { Store } from '../store.js'
import { openPostgres } from './open-postgres.js'

describe.skipIf(notRun() !== '')(`the store on PostgreSQL${notRun()}`, () => {
  let server: PostgresServer
  let databases = 0
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  const newDatabase = async () => {
    databases += 1
    await server.run(`CREATE DATABASE server_${databases}`)
    return `server_${databases}`
  }
  const open = async (database: string) => {
    const failures: unknown[] = []
    const store = await openPostgres({
      database: { url: server.url(database) },
      settings: { steps: stepSettings, keepSigned: { blocks: 12 } },
      clock: stoppedClock(),
      onFailure: (error) => failures.push(error),
      waitMs: 60_000,
    })
    return { store, failures }
  }
  const issue = ({ change }: Store, seed: number) => change('issue', challengeOf(seed), undefined)
  const issued = async ({ ask }: Store): Promise<number> =>
    await ask(
      (function* () {
        return (yield sql`SELECT count(*) AS count FROM payment`)[0]?.count
      })(),
    )
  const codesOf = (failures: readonly unknown[]) =>
    failures.map((error) => (error instanceof SvcError ? error.code : 'server'))

  it('one daemon writes at a time; after its end the next goes on, and one that wakes up late writes nothing', async () => {
    const database = await newDatabase()
    const first = await open(database)
    expect(await issue(first.store, 1)).toBe('issued')
    // As if the first had been stopped for longer than its lease.
    await server.run('UPDATE lease SET until_ms = 0', database)
    const second = await open(database)
    expect(second.store.id).toBe(first.store.id)
    await expect(issue(first.store, 2)).rejects.toMatchObject({ code: 'journal_failed' })
    expect(codesOf(first.failures)).toContain('journal_locked')
    expect(await issue(second.store, 3)).toBe('issued')
    expect(await issued(second.store)).toBe(2)
    await first.store.close()
    // The end of the first is not the end of the second.
    expect(await issue(second.store, 4)).toBe('issued')
    await second.store.close()
    const third = await open(database)
    expect(await issued(third.store)).toBe(3)
    await third.store.close()
  })

  it('a daemon that waits for the lock while another takes over writes nothing, and answers nothing', async () => {
    const database = await newDatabase()
    const { store, failures } = await open(database)
    await issue(store, 1)
    const takingOver = server.run(
      `SELECT applied FROM ledger FOR UPDATE; UPDATE lease SET term = term + 1; SELECT pg_sleep(1)`,
      database,
    )
    await until(
      async () =>
        (await server.run("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(1)%'")) > '1',
    )
    await expect(issue(store, 2)).rejects.toMatchObject({ code: 'journal_failed' })
    await takingOver
    expect(codesOf(failures)).toEqual(['journal_locked'])
    await expect(issued(store)).rejects.toMatchObject({ code: 'journal_failed' })
    expect(await server.run('SELECT count(*) FROM payment', database)).toBe('1')
    expect(store.figures().failed).toBe(true)
    await store.close()
  })

  it('a start waits for the lease of a daemon that died, and then reads and writes at once', async () => {
    const database = await newDatabase()
    const { store } = await open(database)
    await store.close()
    // The dead one renewed its lease just before, and waiting for its end takes longer than a lease of ours runs.
    const soon = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + 8500'
    await server.run(`UPDATE lease SET until_ms = ${soon}`, database)
    const next = await open(database)
    expect(await issued(next.store)).toBe(0)
    expect(await issue(next.store, 1)).toBe('issued')
    await next.store.close()
  })

  it('refuses while another daemon writes, and says which', async () => {
    const database = await newDatabase()
    const { store } = await open(database)
    await expect(open(database)).rejects.toMatchObject({
      code: 'journal_locked',
      message: expect.stringContaining(`process ${process.pid}`),
    })
    await store.close()
  })

  it('goes on after connections were cut at any instant: all that was told is there, and nothing twice', async () => {
    const database = await newDatabase()
    const { store } = await open(database)
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid()`
    const told: number[] = []
    const known: number[] = []
    const pay = async (seed: number) => {
      for (;;) {
        const outcome = await issue(store, seed).catch((error: SvcError) => error.code)
        if (outcome === 'issued') return void told.push(seed)
        // The answer was lost, and the step happened.
        if (outcome === 'nonce_reused') return void known.push(seed)
        expect(outcome).toBe('journal_failed')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    for (let round = 0; round < 30; round++) {
      const paying = Array.from({ length: 10 }, (_, i) => pay(round * 10 + i + 1))
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
      await Promise.all([...paying, server.run(cut)])
    }
    expect(told.length + known.length).toBe(300)
    expect(told.length).toBeGreaterThan(0)
    expect(await until(() => issued(store).catch(() => undefined))).toBe(300)
    const events = await server.run('SELECT count(*), max(seq) FROM event', database)
    expect(events).toBe('300|300')
    expect(await server.run('SELECT applied FROM ledger', database)).toBe('300')
    await store.close()
  })

  it('refuses to go on with a database that lacks what was told: a standby took over too early', async () => {
    const database = await newDatabase()
    const { store, failures } = await open(database)
    await issue(store, 1)
    await issue(store, 2)
    await server.run('DELETE FROM payment; DELETE FROM event; UPDATE ledger SET applied = 0', database)
    await expect(issue(store, 3)).rejects.toMatchObject({ code: 'journal_failed' })
    expect(codesOf(failures)).toContain('journal_old')
    expect(store.figures().failed).toBe(true)
    await store.close()
  })
})
