import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf } from '../../../test/challenges.js'
import { openDatabase, serverUrl } from '../../../test/database.js'
import { describePayerWaits, waitSettings } from '../../../test/payer-waits-contract.js'
import { sql } from '../sql.js'
import type { Send } from './client.js'
import { createSharedPayerWaits } from './payer-waits.js'

describe.skipIf(serverUrl === undefined)('on PostgreSQL', () => {
  describePayerWaits('at two daemons of one database', () => {
    const clock = stoppedClock()
    const opened = openDatabase()
    const now = () => sql`CAST(${clock.now()} AS BIGINT)`
    const [one, other] = [0, 1].map(() => {
      const connected = opened.then(({ connect }) => connect())
      const send: Send = async (query) => (await connected).send(query)
      return createSharedPayerWaits({ send, ...waitSettings, now })
    })
    if (!one || !other) throw new Error('two daemons')
    let calls = 0
    return {
      waits: { failed: (payer) => (calls++ % 2 === 0 ? one : other).failed(payer), waitMs: one.waitMs },
      advance: clock.advance,
    }
  })

  it('waits end by the clock of the server, and those of payers that failed long ago are forgotten', async () => {
    const database = await openDatabase()
    const waits = createSharedPayerWaits({
      send: database.connect().send,
      firstMs: 60_000,
      maxMs: 60_000,
      forgetMs: 1,
    })
    await waits.failed(addressOf(1))
    const waitMs = await waits.waitMs(addressOf(1))
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThanOrEqual(60_000)
    await database.run('UPDATE payer_wait SET until_ms = until_ms - 60002')
    expect(await waits.waitMs(addressOf(1))).toBe(0)
    await waits.failed(addressOf(2))
    expect(await database.run('SELECT count(*) FROM payer_wait')).toBe('1')
  })

  it('a database that is away holds up no burn', async () => {
    const waits = createSharedPayerWaits({ send: () => Promise.reject(new Error('away')), ...waitSettings })
    await waits.failed(addressOf(1))
    expect(await waits.waitMs(addressOf(1))).toBe(0)
  })
})
