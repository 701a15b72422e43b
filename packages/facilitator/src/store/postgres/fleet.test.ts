/** The daemons that share a ledger, as an operator sees them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { until } from '../../../../../test/support/until.js'
import { addressOf } from '../../../test/challenges.js'
import { openTestLedger, testBinding } from '../../../test/open-ledger.js'

describe.skipIf(notRun() !== '')(`several daemons${notRun()}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  it('a ledger knows which daemons share it, who was asked, and who holds what in which term', async () => {
    await server.run('CREATE DATABASE fleet')
    const open = () => openTestLedger({ database: { url: server.url('fleet') } })
    const [first, second] = [await open(), await open()]
    await first.store.leases.take('work')
    await (await second.store.leases.take('send:0x1'))?.release()
    await until(async () => (await server.run('SELECT count(*) FROM daemon', 'fleet')) === '2')
    await server.run("INSERT INTO daemon VALUES ('killed', 1)", 'fleet')
    const { daemons, leases } = (await first.fleet?.()) ?? {}
    const [here, there] = [first, second].map(({ store }) => store.leases.holder)
    expect(daemons?.filter(({ alive }) => alive).map(({ name, here }) => [name, here])).toEqual(
      [
        [here, true],
        [there, false],
      ].sort(),
    )
    expect(daemons?.find(({ name }) => name === 'killed')).toMatchObject({ alive: false, here: false })
    expect(leases).toEqual([
      { name: 'send:0x1', term: expect.any(Number) },
      { name: 'work', term: expect.any(Number), holder: here },
    ])
    await first.close()
    await second.close()
  })

  it('burn through one helper: another one is refused until all daemons have ended', async () => {
    await server.run('CREATE DATABASE helpers')
    const open = (helper = testBinding.helper) =>
      openTestLedger({ database: { url: server.url('helpers') }, binding: { ...testBinding, helper } })
    const first = await open()
    await until(async () => (await server.run('SELECT count(*) FROM daemon', 'helpers')) === '1')
    await expect(open(addressOf(9))).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`${first.store.leases.holder} burns through ${testBinding.helper}`),
    })
    await (await open()).close()
    await first.close()
    await (await open(addressOf(9))).close()
  })
})
