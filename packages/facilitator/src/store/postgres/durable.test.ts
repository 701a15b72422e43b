/** Steps are durable by the daemon's own sessions, and a server that cannot promise it is named. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { minimalConfig } from '../../../test/config.js'
import { openDatabase, serverUrl } from '../../../test/database.js'
import { probeLedger } from '../../commands/check/ledger.js'
import { parseConfig } from '../../config/config.js'
import { openStorage } from '../../start/storage.js'
import type { LogEvent } from '../../telemetry/events.js'
import { oursOf } from '../assert-ours.js'
import { sql } from '../sql.js'
import { connect } from './client.js'

describe.skipIf(serverUrl === undefined)('a server that does not sync', () => {
  it('by default is made to wait for the disk by each of our sessions', async () => {
    const { run, ...database } = await openDatabase()
    const name = database.url.replace(/.*\//, '')
    await run(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    expect(await run('SHOW synchronous_commit')).toBe('off')
    const client = connect(database)
    onTestFinished(client.close)
    const setting = sql`SELECT current_setting('synchronous_commit') AS setting`
    const aside = database.connect()
    for (const [row] of [
      await client.write((send) => send(setting)),
      await client.read((send) => send(setting)),
      await aside.send(setting),
    ])
      expect(row?.setting).toBe('on')
  })

  it('or whose pages a crash can tear, is a finding of `check` and a warning of a start', async () => {
    const { run, url } = await openDatabase()
    await run('ALTER SYSTEM SET full_page_writes = off')
    onTestFinished(async () => {
      await run('ALTER SYSTEM RESET full_page_writes')
      await run('SELECT pg_reload_conf()')
    })
    await run('SELECT pg_reload_conf()')
    // The server of these tests has `fsync = off`: nothing in it has to outlive the machine.
    const expected = ['fsync', 'full_page_writes'].map((name) => expect.stringContaining(`${name} = off`))
    const config = parseConfig(`${minimalConfig()}[storage]\nurl = '${url}'\n`)
    const found = await probeLedger(config, undefined, {})
    expect(found).toMatchObject([
      { level: 'ok', key: 'storage.url' },
      ...expected.map((message) => ({ level: 'warn', key: 'storage.url', message })),
    ])
    const events: LogEvent[] = []
    const storage = await openStorage({
      config,
      clock: movableClock(),
      log: (event) => events.push(event),
      seed: new Uint8Array(32),
    })
    await storage.close()
    const ours = oursOf(config, new Uint8Array(32).fill(1))
    expect(await probeLedger(config, undefined, { ours })).toMatchObject([{ key: 'SVC_TREASURY_PK' }])
    expect(events.flatMap((event) => (event.event === 'facilitator.warning' ? event.message : []))).toEqual(
      expected,
    )
  })
})
