/** Pools of several daemons on one database: no address twice, none lost, none forgotten. */
import { setTimeout } from 'node:timers/promises'
import { findPowNonce } from '@svc-zerc20/zk'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { openDatabase, serverUrl } from '../../../test/database.js'
import { seededRandom } from '../../../test/seeded-random.js'
import { type AddressPool, createAddressPool } from '../../addresses/pool.js'
import type { ReadyAddress } from '../../payment/ports.js'
import { key, sql } from '../sql.js'
import type { Aside } from './client.js'
import { createSharedReady } from './ready.js'

const terms = {
  generation: 2,
  chainId: 31337,
  treasury: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  seed: new Uint8Array(32).fill(7),
} as const

const pools: AddressPool[] = []
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})

type Database = Awaited<ReturnType<typeof openDatabase>>

/** The pool of one daemon. */
function openPool(database: Database, holder: string, { targetSize = 8, canMine = true, powBits = 1 } = {}) {
  let mined = 0
  const pool = createAddressPool({
    ...terms,
    powBits,
    targetSize,
    random: seededRandom(holder.charCodeAt(0)),
    clock: { now: Date.now, sleep: (ms, signal) => setTimeout(ms, undefined, { signal }) },
    miner: {
      threads: 1,
      async mine(puzzle) {
        if (!canMine) return new Promise<never>(() => undefined)
        mined += 1
        const powNonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 1_000 }) ?? -1
        return powNonce
      },
    },
    shared: createSharedReady({ send: database.connect().send, holder }),
  })
  pools.push(pool)
  return { pool, mined: () => mined }
}

/** Takes one as a challenge that is issued does. */
async function issue({ send }: Aside, pool: AddressPool): Promise<ReadyAddress> {
  const address = await pool.take(60_000)
  if (!address) throw new Error('no address in time')
  await send(sql`DELETE FROM ready WHERE nonce = ${key(address.challengeNonce)}`)
  return address
}
const rowsIn = async (database: Database) => Number(await database.run('SELECT count(*) FROM ready'))

describe.skipIf(serverUrl === undefined)('ready addresses of daemons on one database', () => {
  it('are handed out once, whichever daemon is asked, and refilled to one target', async () => {
    const database = await openDatabase()
    const daemons = ['a', 'b', 'c'].map((name) => openPool(database, name))
    const aside = database.connect()
    const taken: ReadyAddress[] = []
    for (let round = 0; round < 6; round++) {
      taken.push(
        ...(await Promise.all(daemons.flatMap(({ pool }) => [issue(aside, pool), issue(aside, pool)]))),
      )
    }
    expect(taken).toHaveLength(36)
    expect(new Set(taken.map(({ payTo }) => payTo)).size).toBe(36)
    await until(() => daemons.every(({ pool }) => pool.ready() >= 8))
    // Each may hold two, and mine one at the same time as the others.
    const mined = daemons.reduce((sum, daemon) => sum + daemon.mined(), 0)
    expect(mined - 36).toBeLessThanOrEqual(8 + 3 * 2 + 3)
    expect(await rowsIn(database)).toBe(mined - 36)
  })

  it('are mined by one daemon and handed out by another, and what it emptied is refilled', async () => {
    const database = await openDatabase()
    const miner = openPool(database, 'm')
    await until(() => miner.pool.ready() === 8)
    const taker = openPool(database, 't', { canMine: false })
    const aside = database.connect()
    for (let i = 0; i < 20; i++) await issue(aside, taker.pool)
    await until(async () => (await rowsIn(database)) >= 8)
    expect(miner.mined()).toBeGreaterThanOrEqual(28)
  })

  it('are left to the others at the end, and those of a dead daemon once they are held no more', async () => {
    const database = await openDatabase()
    const first = openPool(database, 'f')
    await until(() => first.pool.ready() === 8)
    await first.pool.close()
    const second = openPool(database, 's', { canMine: false })
    await until(() => second.pool.ready() === 8)
    // As if another daemon had died long ago with all of them.
    await database.run("UPDATE ready SET holder = 'dead', held_until_ms = 1")
    const third = openPool(database, 't', { canMine: false })
    await until(() => third.pool.ready() === 8)
    expect(await third.pool.take(0)).toBeDefined()
  })

  it('of other terms are dropped, and nobody waits for them', async () => {
    const database = await openDatabase()
    const before = openPool(database, 'b')
    await until(() => before.pool.ready() === 8)
    await before.pool.close()
    const after = openPool(database, 'a', { powBits: 2 })
    expect(await after.pool.take(60_000)).toMatchObject({ powBits: 2 })
    await until(
      async () =>
        (await database.run(`SELECT count(*) FROM ready WHERE record LIKE '%"powBits":1%'`)) === '0',
    )
  })

  it('that another daemon holds by now are handed out no more', async () => {
    const database = await openDatabase()
    const [one, other] = ['one', 'other'].map((holder) =>
      createSharedReady({ send: database.connect().send, holder }),
    )
    const filler = openPool(database, 'f')
    await until(() => filler.pool.ready() === 8)
    await filler.pool.close()
    const taken = (await one?.take(4)) ?? []
    const nonces = taken.map(({ challengeNonce }) => challengeNonce)
    expect((await one?.renew(nonces))?.size).toBe(4)
    await database.run('UPDATE ready SET held_until_ms = 1')
    expect(await other?.take(8)).toHaveLength(8)
    expect((await one?.renew(nonces))?.size).toBe(0)
    expect(await one?.free()).toBe(0)
  })

  it('what a hostile miner wrote is dropped, and hides no address behind it', async () => {
    const database = await openDatabase()
    const { pool } = openPool(database, 'A', { targetSize: 1 })
    const good = await issue(database.connect(), pool)
    await pool.close()
    await database.run('DELETE FROM ready')
    const [nonce, other] = ['ab', 'cd'].map((byte) => byte.repeat(32))
    const text = JSON.stringify(good)
    const hostile = [
      'no JSON',
      '1',
      // Under another nonce it would be dropped by none, and handed out again.
      text,
      JSON.stringify({ ...good, challengeNonce: `0x${nonce}`, epoch: { start: '5', ledger: '' } }),
      JSON.stringify({ ...good, challengeNonce: `0x${nonce}`, powNonce: '7' }),
      JSON.stringify({ ...good, challengeNonce: `0x${nonce}`, payTo: 7 }),
    ]
    for (const record of hostile) {
      await database.run(
        `INSERT INTO ready (nonce, record) VALUES ('\\x${nonce}', '${record}'), ('\\x${other}', '${text}')`,
      )
      const { pool: next } = openPool(database, 'B', { canMine: false })
      await until(async () => (await rowsIn(database)) === 0)
      await next.close()
    }
    await expect(
      database.run(`INSERT INTO ready (nonce, record) VALUES ('\\x${nonce}', repeat('x', 2000))`),
    ).rejects.toThrow(/check constraint/)
    // Its own words are in none of what is handed out.
    await database.run(
      `INSERT INTO ready (nonce, record) VALUES ('\\x${good.challengeNonce.slice(2)}', '${JSON.stringify({ ...good, amount: '1' })}')`,
    )
    const { pool: last } = openPool(database, 'C', { canMine: false })
    expect(await last.take(60_000)).toEqual(good)
  })
})
