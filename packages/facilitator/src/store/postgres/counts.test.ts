/** R-072 with several daemons: a rate holds for the sum of what they let in. */
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { openDatabase, serverUrl } from '../../../test/database.js'
import { createRates, type Rates } from '../../http/rate-limit.js'
import { createCounts } from './counts.js'

const secret = new Uint8Array(32).fill(7)

async function openDaemons(count: number) {
  const database = await openDatabase()
  const clock = stoppedClock()
  const daemons = Array.from({ length: count }, () => {
    const counts = createCounts({ send: database.connect().send, secret, patienceMs: 60_000 })
    return createRates({ keysMax: 100, clock, shared: counts })
  })
  return { database, clock, daemons }
}

const ofCaller = (key: string, perMinute: number) => ({ rate: 'caller', key, perMinute })

/** How many are let in of so many at each daemon, all at once. */
async function passed(daemons: readonly Rates[], times: number, ask: (rates: Rates) => Promise<unknown>) {
  const asked = daemons.flatMap((daemon) => Array.from({ length: times }, () => ask(daemon)))
  return (await Promise.all(asked)).filter((refused) => refused === undefined).length
}

describe.skipIf(serverUrl === undefined)('rates of daemons on one database', () => {
  it('R-072 hold for the sum, whoever is asked, at once or one after the other', async () => {
    const { daemons } = await openDaemons(3)
    expect(await passed(daemons, 40, (rates) => rates.take(ofCaller('a', 50)))).toBe(50)
    expect(await passed(daemons, 40, (rates) => rates.take(ofCaller('a', 50)))).toBe(0)
    let alternating = 0
    for (let i = 0; i < 12; i++) {
      const refused = await daemons[i % 3]?.take(ofCaller('b', 7))
      if (!refused) alternating += 1
      else expect(refused).toMatchObject({ reason: 'too_many_requests', retryAfter: 60 })
    }
    expect(alternating).toBe(7)
  })

  it('R-072 a rate that refuses leaves the one behind it alone', async () => {
    const { database, daemons } = await openDaemons(2)
    const ofIssue = { rate: 'issue', key: 'a', perMinute: 3 }
    expect(await passed(daemons, 20, (rates) => rates.take(ofIssue, ofCaller('a', 10)))).toBe(3)
    // A count behind a refusal by the other daemon's requests is taken back a moment later.
    await until(async () => (await database.run('SELECT min(count) FROM rate')) === '3')
    expect(await passed(daemons, 20, (rates) => rates.take(ofCaller('a', 10)))).toBe(7)
  })

  it('begin again with the next minute of the server, at all daemons', async () => {
    const { database, clock, daemons } = await openDaemons(2)
    expect(await passed(daemons, 5, (rates) => rates.take(ofCaller('a', 5)))).toBe(5)
    await database.run('UPDATE rate SET started_ms = started_ms - 60000')
    clock.advance(60_000)
    expect(await passed(daemons, 5, (rates) => rates.take(ofCaller('a', 5)))).toBe(5)
  })

  it('keep a bounded table: minutes that are over are deleted', async () => {
    const { database, daemons } = await openDaemons(1)
    await database.run("INSERT INTO rate VALUES ('a', 0, 5)")
    await daemons[0]?.take(ofCaller('b', 5))
    expect(await until(async () => (await database.run('SELECT count(*) FROM rate')) === '1')).toBe(true)
  })

  it('are deleted without waiting for one that is being counted', async () => {
    const { database, daemons } = await openDaemons(1)
    await database.run("INSERT INTO rate VALUES ('a', 0, 5), ('b', 0, 5)")
    let isCounted = false
    const counting = database
      .run("BEGIN; UPDATE rate SET count = 6 WHERE who = 'a'; SELECT pg_sleep(4); COMMIT")
      .finally(() => {
        isCounted = true
      })
    const isCounting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(4)%'"
    await until(async () => Number(await database.run(isCounting)) > 1)
    await daemons[0]?.take(ofCaller('c', 5))
    await until(async () => (await database.run("SELECT count(*) FROM rate WHERE who = 'b'")) === '0')
    expect(isCounted).toBe(false)
    await counting
  })

  it('do not write who is counted', async () => {
    const { database, daemons } = await openDaemons(1)
    await daemons[0]?.take(ofCaller('192.0.2.77', 5))
    const rows = await database.run("SELECT convert_from(who, 'LATIN1'), rate.* FROM rate")
    expect(rows).not.toBe('')
    expect(rows).not.toContain('192.0.2.77')
  })

  it('a database that refuses or does not answer leaves each daemon its own count', async () => {
    const clock = stoppedClock()
    for (const send of [() => Promise.reject(new Error('away')), () => new Promise<never>(() => undefined)]) {
      const rates = createRates({ keysMax: 10, clock, shared: createCounts({ send, secret, patienceMs: 1 }) })
      expect(await passed([rates], 20, (each) => each.take(ofCaller('a', 6)))).toBe(6)
      expect(await passed([rates], 20, (each) => each.take(ofCaller('b', 6)))).toBe(6)
    }
  })
})
