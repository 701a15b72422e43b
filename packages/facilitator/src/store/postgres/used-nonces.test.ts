import type { UnixSeconds } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../test/challenges.js'
import { openDatabase, serverUrl } from '../../../test/database.js'
import { describeUsedNonces } from '../../../test/used-nonces-behaviour.js'
import type { Send } from './client.js'
import { createSharedUsedNonces } from './used-nonces.js'

describe.skipIf(serverUrl === undefined)('on PostgreSQL', () => {
  describeUsedNonces('at two daemons of one database', () => {
    const time = { now: 1_000 }
    const opened = openDatabase()
    const stores = [0, 1].map(() => {
      const connected = opened.then(({ connect }) => connect())
      const send: Send = async (query) => (await connected).send(query)
      return createSharedUsedNonces({ send, nowSeconds: () => time.now as UnixSeconds, usedMax: 3 })
    })
    return { stores, time }
  })

  it('a used nonce outlives its end while the clock of a daemon may be late, and then is deleted', async () => {
    const database = await openDatabase()
    const { send } = database.connect()
    const at = (now: number) =>
      createSharedUsedNonces({ send, nowSeconds: () => now as UnixSeconds, usedMax: 3 })
    expect(await at(1_000).take('a', 1_300 as UnixSeconds, addressOf(1))).toBe('taken')
    expect(await at(1_310).take('b', 1_600 as UnixSeconds, addressOf(1))).toBe('taken')
    expect(await at(1_299).take('a', 1_300 as UnixSeconds, addressOf(1))).toBe('used')
    expect(await at(1_601).take('c', 1_900 as UnixSeconds, addressOf(1))).toBe('taken')
    expect(await database.run('SELECT string_agg(nonce, $$ $$ ORDER BY nonce) FROM login')).toBe('b c')
  })

  it('a database that is away refuses the login as one that can be tried again', async () => {
    const nonces = createSharedUsedNonces({
      send: () => Promise.reject(new Error('away')),
      nowSeconds: () => 1_000 as UnixSeconds,
      usedMax: 3,
    })
    await expect(nonces.take('a', 1_300 as UnixSeconds, addressOf(1))).rejects.toMatchObject({
      code: 'ledger_failed',
    })
    await nonces.giveBack('a')
  })
})
