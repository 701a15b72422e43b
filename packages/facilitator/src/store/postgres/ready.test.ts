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
function openPool(database: Database, name: string, { targetSize = 8, canMine = true, powBits = 1 } = {}) {
  let mined = 0
  const pool = createAddressPool({
    ...terms,
    powBits,
    targetSize,
    random: seededRandom(name.charCodeAt(0)),
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
    shared: createSharedReady(database.connect().send),
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
  it('are mined by stand-bys as well, and handed out by the active one, each once', async () => {
    const database = await openDatabase()
    const [active, standBy] = ['a', 'b'].map((name) => openPool(database, name))
    if (!active || !standBy) throw new Error('two daemons')
    const aside = database.connect()
    const taken: ReadyAddress[] = []
    for (let i = 0; i < 36; i++) taken.push(await issue(aside, active.pool))
    expect(new Set(taken.map(({ payTo }) => payTo)).size).toBe(36)
    await until(() => [active, standBy].every(({ pool }) => pool.ready() >= 8))
    // Both begin to mine at one time, so there may be one more for each thread beyond the target.
    const mined = active.mined() + standBy.mined()
    expect(await rowsIn(database)).toBe(mined - 36)
    expect(mined - 36).toBeLessThanOrEqual(2 * 8)
    expect(standBy.mined()).toBeGreaterThan(0)
  })

  it('are all there for whoever takes over, without those that were issued', async () => {
    const database = await openDatabase()
    const before = openPool(database, 'b')
    await until(() => before.pool.ready() === 8)
    const next = openPool(database, 'n', { canMine: false })
    await until(() => next.pool.ready() === 8)
    const aside = database.connect()
    const issued = [await issue(aside, before.pool), await issue(aside, before.pool)]
    // Killed: it gives nothing back, and mines no more.
    await before.pool.close()
    await until(async () => next.pool.ready() === (await rowsIn(database)))
    const left = await rowsIn(database)
    for (let i = 0; i < left; i++) issued.push(await issue(aside, next.pool))
    expect(new Set(issued.map(({ payTo }) => payTo)).size).toBe(left + 2)
  })

  it('are taken back from a caller that showed its address to nobody, and forgotten with a copy', async () => {
    const database = await openDatabase()
    const { pool } = openPool(database, 'a', { targetSize: 2 })
    await until(() => pool.ready() === 2)
    const address = await pool.take(0)
    if (!address) throw new Error('no address')
    pool.giveBack(address)
    expect(pool.ready()).toBeGreaterThanOrEqual(2)
    await pool.close()
    const { pool: idle } = openPool(database, 'i', { canMine: false })
    await until(() => idle.ready() > 0)
    await database.run('DELETE FROM ready')
    await until(() => idle.ready() === 0)
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
})
