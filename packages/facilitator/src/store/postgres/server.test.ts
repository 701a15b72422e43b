/** The store on a server that dies, restarts and changes hands. Every told event is there afterwards, once. */

import { setTimeout as sleep } from 'node:timers/promises'
import { SvcError } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { startTcpSwitch } from '../../../../../test/support/tcp-switch.js'
import { until } from '../../../../../test/support/until.js'
import { addressOf, burnOf, challengeOf, hashOf, permitPayloadOf, readyOf } from '../../../test/challenges.js'
import { portsOf, stepSettings } from '../../../test/store.js'
import { limits } from '../../config/limits.js'
import type { AccountName } from '../events.js'
import type { Lease } from '../lease.js'
import { sql } from '../sql.js'
import { readAccount } from '../steps/operator-steps.js'
import { type Store, under } from '../store.js'
import { connect } from './client.js'
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
  const open = async (database: string, port = server.port) => {
    const failures: unknown[] = []
    const store = await openPostgres({
      database: { url: server.url(database).replace(`:${server.port}/`, `:${port}/`) },
      settings: { steps: stepSettings, keepSigned: { blocks: 12 } },
      clock: stoppedClock(),
      onFailure: (error) => failures.push(error),
      waitMs: 60_000,
    })
    return { store, failures }
  }
  const issue = ({ change }: Pick<Store, 'change'>, seed: number) => change('issue', challengeOf(seed))
  /** As a daemon does, whose addresses are in the table before it hands them out. */
  const issueReady = async (store: Store, seed: number) => {
    await store.change('addReady', readyOf(challengeOf(seed)))
    return issue(store, seed)
  }
  const issued = async ({ ask }: Store): Promise<number> =>
    await ask(
      (function* () {
        return (yield sql`SELECT count(*) AS count FROM payment`)[0]?.count
      })(),
    )
  const codesOf = (failures: readonly unknown[]) =>
    failures.map((error) => (error instanceof SvcError ? error.code : 'server'))

  it('a connection of any age keeps its transaction', async () => {
    // The default of the library for a connection that is told nothing else.
    vi.stubEnv('PGMAX_LIFETIME', '1')
    const client = connect({ url: server.url(await newDatabase()) })
    onTestFinished(client.close)
    vi.unstubAllEnvs()
    const pids = await client.write(async (send) => {
      const first = send(sql`SELECT pg_backend_pid() AS pid`)
      await sleep(1_500)
      return [await first, await send(sql`SELECT pg_backend_pid() AS pid`)].map(([row]) => row?.pid)
    })
    expect(pids[1]).toBe(pids[0])
  })

  it('a database in another encoding is refused, before anything is made in it', async () => {
    await server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    await expect(open('latin')).rejects.toThrow('storage.url: the database is in LATIN1; create one with')
  })

  it('several daemons write one ledger: each sees what the others did, in one order without gaps', async () => {
    const database = await newDatabase()
    const daemons = await Promise.all([open(database), open(database), open(database)])
    const outcomes = await Promise.all(
      daemons.flatMap(({ store }, i) => Array.from({ length: 20 }, (_, n) => issue(store, 100 * i + n + 1))),
    )
    expect(new Set(outcomes)).toEqual(new Set(['issued']))
    for (const { store, failures } of daemons) {
      expect(await issued(store)).toBe(60)
      expect(failures).toEqual([])
    }
    expect(await server.run('SELECT count(*), min(seq), max(seq) FROM event', database)).toBe('60|1|60')
    await Promise.all(daemons.map(({ store }) => store.close()))
  })

  it('a lease has one holder; the next one has a higher term, and one that wakes up late changes nothing', async () => {
    const database = await newDatabase()
    const [first, second] = [await open(database), await open(database)]
    const lease = await first.store.leases.take('work')
    const term = lease?.fence?.term ?? 0
    expect(await second.store.leases.take('work')).toBeUndefined()
    // As if the first had been stopped for longer than its lease.
    await server.run("UPDATE lease SET until_ms = 0, holder = 'stopped'", database)
    const next = await second.store.leases.take('work')
    expect(next?.fence?.term).toBeGreaterThan(term)
    const late = under(first.store, [lease as Lease])
    await expect(issue(late, 1)).rejects.toMatchObject({ code: 'lease_lost' })
    // Only work under the lease is refused, and only to the one that lost it.
    expect(await issue(first.store, 2)).toBe('issued')
    expect(await issue(under(second.store, [next as Lease]), 3)).toBe('issued')
    await until(async () => lease?.lost.aborted)
    expect(next?.lost.aborted).toBe(false)
    // The end of the first is not the end of the second.
    await first.store.close()
    expect(await issue(under(second.store, [next as Lease]), 4)).toBe('issued')
    await second.store.close()
    expect(await server.run('SELECT count(*) FROM daemon', database)).toBe('0')
  })

  it('a step that waits for the lock while another daemon takes the lease over changes nothing', async () => {
    const database = await newDatabase()
    const { store, failures } = await open(database)
    const lease = await store.leases.take('work')
    const takingOver = server.run(
      `SELECT applied FROM ledger FOR UPDATE; UPDATE lease SET term = term + 1; SELECT pg_sleep(1)`,
      database,
    )
    await until(
      async () =>
        (await server.run("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(1)%'")) > '1',
    )
    await expect(issue(under(store, [lease as Lease]), 2)).rejects.toMatchObject({ code: 'lease_lost' })
    await takingOver
    expect(failures).toEqual([])
    expect(await server.run('SELECT count(*) FROM payment', database)).toBe('0')
    await store.close()
  })

  it('a daemon that looks for the lease waits for nobody who is frozen in a transaction of the ledger', async () => {
    const database = await newDatabase()
    const [active, standBy] = [await open(database), await open(database)]
    await active.store.leases.take('work')
    const frozen = server.run('SELECT applied FROM ledger FOR UPDATE; SELECT pg_sleep(2)', database)
    await until(
      async () =>
        (await server.run("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(2)%'")) > '1',
    )
    const first = await Promise.race([standBy.store.leases.take('work'), frozen.then(() => 'waited')])
    expect(first).toBeUndefined()
    await frozen
    for (const { store } of [active, standBy]) await store.close()
  })

  it('a stand-by notices by looking alone that the ledger went back, and nobody believes it, whoever takes over', async () => {
    const database = await newDatabase()
    const [active, standBy] = [await open(database), await open(database)]
    await active.store.leases.take('work')
    for (const seed of [1, 2]) await issue(active.store, seed)
    expect(await standBy.store.leases.take('work')).toBeUndefined()
    // The active one dies with the server. Behind the failover a daemon that knows nothing of before goes on at once.
    await active.store.close()
    await server.run(
      'DELETE FROM event WHERE seq = 2; DELETE FROM payment WHERE id = 2; UPDATE ledger SET applied = 1',
      database,
    )
    const heir = await open(database)
    expect(await heir.store.leases.take('work')).toBeDefined()
    expect(await issue(heir.store, 3)).toBe('issued')
    await standBy.store.leases.take('work')
    expect([await server.run('SELECT state FROM ledger', database), standBy.store.isOld?.()]).toEqual([
      'copy',
      true,
    ])
    await expect(issue(heir.store, 4)).rejects.toMatchObject({ code: 'ledger_failed' })
    for (const { store } of [standBy, heir]) await store.close()
  })

  it('a lease that was given back is free at once, and its term is never given again', async () => {
    const database = await newDatabase()
    const [first, second] = [await open(database), await open(database)]
    const lease = await first.store.leases.take('work')
    await lease?.release()
    const next = await second.store.leases.take('work')
    expect(next?.fence?.term).toBeGreaterThan(lease?.fence?.term ?? 0)
    await first.store.close()
    await second.store.close()
    const third = await open(database)
    expect((await third.store.leases.take('work'))?.fence?.term).toBeGreaterThan(next?.fence?.term ?? 0)
    await third.store.close()
  })

  it('a grant that the daemon before gave is given by no other one: it is looked for, and recorded, as its lease was', async () => {
    const database = await newDatabase()
    const [first, second] = [await open(database), await open(database)]
    const active = async ({ store }: typeof first) => {
      const lease = await store.leases.take('active')
      if (!lease) throw new Error('another daemon has it')
      const { ledger } = portsOf(store, stoppedClock(), stepSettings)
      return ledger.on(under(store, [lease]))
    }
    const challenge = challengeOf(1)
    const { nonce } = challenge
    const one = await active(first)
    await one.issue(challenge)
    await one.claim(nonce, permitPayloadOf(challenge))
    await one.accept(nonce, burnOf(1))
    const grant = await one.takeGrant(nonce, 0)
    if (typeof grant === 'string') throw new Error(grant)
    await server.run('UPDATE lease SET until_ms = 0', database)
    const two = await active(second)
    expect(await two.takeGrant(nonce, 0)).toBe('held')
    await grant.giveBack()
    await expect(one.takeGrant(nonce, 0)).rejects.toMatchObject({ code: 'lease_lost' })
    // Nor may it sign, or free the challenge of a burn that the other one sends.
    const transaction = { txNonce: 0, hash: hashOf(9), raw: '0x09', from: addressOf(0xb1) } as const
    await expect(one.recordSigned(transaction, [nonce])).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(one.release(nonce)).rejects.toMatchObject({ code: 'lease_lost' })
    const other = challengeOf(2)
    await two.issue(other)
    await two.claim(other.nonce, permitPayloadOf(other, { nonce: 1n }))
    await two.accept(other.nonce, burnOf(2))
    const own = await two.takeGrant(other.nonce, 0)
    if (typeof own === 'string') throw new Error(own)
    await server.run('UPDATE lease SET until_ms = 0', database)
    await active(first)
    await own.use()
    expect(await (await active(first)).takeGrant(other.nonce, 0)).toBe('used')
    await first.store.close()
    await second.store.close()
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
        expect(outcome).toBe('ledger_failed')
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

  it('a database that lacks what was told is used by nobody until it is accepted as a copy', async () => {
    const database = await newDatabase()
    const [first, second] = [await open(database), await open(database)]
    const account = { address: addressOf(1), txNonce: 1 }
    const accounts: readonly AccountName[] = ['relayer', 'minter']
    for (const name of accounts) await first.store.change('bindAccount', name, account)
    await issue(first.store, 1)
    await issue(first.store, 2)
    // A standby took over that never got the last event. Only the first daemon knows of it.
    await server.run(
      'DELETE FROM event WHERE seq = 4; DELETE FROM payment WHERE id = 2; UPDATE ledger SET applied = 3',
      database,
    )
    await expect(issue(first.store, 3)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(codesOf(first.failures.map((error) => (error as Error).cause))).toEqual(['ledger_old'])
    expect(first.store.isOld?.()).toBe(true)
    expect(first.store.figures().failed).toBe(true)
    await expect(issue(second.store, 4)).rejects.toMatchObject({ code: 'ledger_failed' })

    await second.store.change('acceptCopy', 100)
    // An address of the lost time was ready again, and a daemon has taken it.
    await expect(issue(first.store, 2)).rejects.toMatchObject({ code: 'nonce_reused' })
    expect(await issueReady(first.store, 5)).toBe('issued')
    expect(await issueReady(second.store, 6)).toBe('issued')
    for (const { store } of [first, second]) {
      expect(store.isOld?.()).toBe(false)
      expect(store.figures().failed).toBe(false)
    }
    // The chain may know more of each account, also of those that the daemon which accepted the copy does not use.
    for (const name of accounts) {
      expect(await first.store.ask(readAccount(name))).toEqual({ ...account, isDoubted: true })
      await first.store.change('bindAccount', name, account)
      expect(await second.store.ask(readAccount(name))).toEqual({ ...account, isDoubted: false })
    }
    for (const { store } of [first, second]) await store.close()
  })

  it('events that were lost are missed, also when others have their numbers by then', async () => {
    const database = await newDatabase()
    const [first, second] = [await open(database), await open(database)]
    await issue(first.store, 1)
    await issue(second.store, 2)
    await issue(first.store, 3)
    // The standby that took over lacks the third event, and the other daemon, who never heard of it, writes on at once.
    await server.run(
      'DELETE FROM event WHERE seq = 3; DELETE FROM payment WHERE id = 3; UPDATE ledger SET applied = 2',
      database,
    )
    for (const seed of [4, 5]) expect(await issue(second.store, seed)).toBe('issued')
    await expect(issue(first.store, 6)).rejects.toMatchObject({ code: 'ledger_failed' })
    await expect(issue(second.store, 7)).rejects.toMatchObject({ code: 'ledger_failed' })
    // Nobody is told that all is well, however often leases are renewed.
    await new Promise((resolve) => setTimeout(resolve, 2 * limits.leaseRenewMs))
    for (const { store } of [first, second]) expect(store.figures().failed).toBe(true)

    const lease = (await first.store.leases.take('work')) as Lease
    await server.run('UPDATE lease SET term = term + 1', database)
    await expect(under(first.store, [lease]).change('acceptCopy', 100)).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect(first.store.isOld?.()).toBe(true)
    await second.store.change('acceptCopy', 100)
    for (const [i, { store }] of [first, second].entries()) {
      expect(await issueReady(store, 8 + i)).toBe('issued')
      await store.close()
    }
  })

  /** A ledger that lost its last event, which the second daemon and one that sleeps were told of, and was accepted as a copy. */
  async function acceptedBeside() {
    const database = await newDatabase()
    const [first, sleeper] = [await open(database), await open(database)]
    await issue(first.store, 1)
    const lose = () =>
      server.run(
        `DELETE FROM event WHERE seq > 1; DELETE FROM payment WHERE id > 1; DELETE FROM setting; UPDATE ledger SET applied = 1`,
        database,
      )
    await issue(sleeper.store, 2)
    await first.store.leases.take('a transaction in which it is told')
    await lose()
    await expect(issue(first.store, 3)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(await first.store.change('acceptCopy', 100, false)).toBe('accepted')
    const state = () => server.run('SELECT state FROM ledger', database)
    return { first, sleeper, lose, state }
  }

  it('a copy is accepted while others ask for steps, which are refused before and done behind it', async () => {
    const database = await newDatabase()
    const { store } = await open(database)
    await server.run("UPDATE ledger SET state = 'copy'", database)
    const outcome = (step: Promise<unknown>) => step.catch((error: SvcError) => error.code)
    // The first has the connection, and the others wait for it together.
    const outcomes = await Promise.all(
      [
        issue(store, 1),
        issue(store, 2),
        store.change('acceptCopy', 100, false),
        issueReady(store, 3),
        store.change('addReady', readyOf(challengeOf(4))),
      ].map(outcome),
    )
    expect(outcomes).toEqual(['ledger_failed', 'ledger_failed', 'accepted', 'issued', undefined])
    await store.close()
  })

  it('a copy with many payments that nobody collected is accepted over a slow network, and used by nobody before', async () => {
    const database = await newDatabase()
    const near = await open(database)
    const { ledger } = portsOf(near.store, stoppedClock(), stepSettings)
    const challenge = challengeOf(1)
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    await ledger.accept(challenge.nonce, burnOf(1))
    const isOwn = "column_name IN ('id', 'nonce', 'pay_to', 'record')"
    const alike = await server.run(
      `SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_name = 'payment' AND NOT ${isOwn}`,
      database,
    )
    const [nonce, payTo] = ['nonce', 'pay_to'].map(
      (key) => `decode(lpad(to_hex(n), 2 * length(${key}), '0'), 'hex')`,
    )
    await server.run(
      `INSERT INTO payment (nonce, pay_to, record, ${alike})
      SELECT ${nonce}, ${payTo}, replace(record, encode(nonce, 'hex'), encode(${nonce}, 'hex')), ${alike}
      FROM payment, generate_series(2, 700) AS n;
      UPDATE ledger SET state = 'copy'`,
      database,
    )
    const wire = await startTcpSwitch(server.port, { delayMs: 15 })
    const { store } = await open(database, wire.port)
    const unserved = () => server.run('SELECT count(*) FROM payment WHERE granted = 0', database)
    expect(await store.change('acceptCopy', 100, false)).toBe('begun')
    expect([await unserved(), store.isOld?.()]).toEqual(['200', true])
    await expect(issueReady(near.store, 701)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(await store.change('acceptCopy', 100, false)).toBe('accepted')
    expect([await unserved(), store.isOld?.()]).toEqual(['0', false])
    expect(await issueReady(near.store, 701)).toBe('issued')
    for (const each of [store, near.store]) await each.close()
    await wire.close()
  })

  it('a copy that was accepted is not accepted again, unless the operator says so', async () => {
    const { first, sleeper } = await acceptedBeside()
    const { ledger } = portsOf(first.store, stoppedClock(), stepSettings)
    const challenge = challengeOf(4)
    await issueReady(first.store, 4)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    await ledger.accept(challenge.nonce, { ...burnOf(4), blockNumber: 101n })
    for (const { store } of [first, sleeper])
      expect(await store.change('acceptCopy', 102, false)).toBe('live')
    const grant = await ledger.takeGrant(challenge.nonce, 0)
    expect(grant).toMatchObject({ accepted: {} })
    if (typeof grant === 'object') await grant.giveBack()
    expect(await sleeper.store.change('acceptCopy', 102, true)).toBe('accepted')
    expect(await ledger.takeGrant(challenge.nonce, 0)).toBe('used')
    for (const { store } of [first, sleeper]) await store.close()
  })

  it('a daemon that slept through a failover doubts nothing of what happened since the copy was accepted', async () => {
    const { first, sleeper, state } = await acceptedBeside()
    const { ledger } = portsOf(first.store, stoppedClock(), stepSettings)
    const challenge = challengeOf(4)
    await issueReady(first.store, 4)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    await ledger.accept(challenge.nonce, { ...burnOf(4), blockNumber: 101n })
    expect(await issueReady(sleeper.store, 5)).toBe('issued')
    expect(await state()).toBe('live')
    expect(await ledger.takeGrant(challenge.nonce, 0)).toMatchObject({ accepted: {} })
    for (const { store } of [first, sleeper]) await store.close()
  })

  it('what was told behind an accepted copy is missed, also when the acceptance is lost with it', async () => {
    const { first, sleeper, lose, state } = await acceptedBeside()
    await issueReady(first.store, 4)
    await lose()
    await expect(issueReady(first.store, 5)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(await state()).toBe('copy')
    for (const { store } of [first, sleeper]) await store.close()
  })
})
