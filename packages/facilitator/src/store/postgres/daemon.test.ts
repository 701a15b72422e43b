/** A daemon whose ledger is on PostgreSQL sells, stops and goes on, as one with a journal does. */
import { spareAccounts } from '@svc-zerc20/devnet'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { startTcpSwitch } from '../../../../../test/support/tcp-switch.js'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf } from '../../../test/payment.js'
import type { Fleet } from '../adapters/fleet.js'

describe.skipIf(notRun() !== '')(`a daemon on PostgreSQL${notRun()}`, () => {
  let server: PostgresServer
  let net: TestNetwork
  let payer: PrivateKeyAccount
  beforeAll(async () => {
    server = await startPostgres()
    await server.run('CREATE DATABASE daemon')
    net = await startNetwork()
    payer = await net.account({ gas: true })
  })
  afterAll(async () => {
    await net.close()
    await server.close()
  })

  const start = (
    database = 'daemon',
    {
      env = {},
      port = server.port,
      isCopyAccepted = false,
    }: { env?: Record<string, string>; port?: number; isCopyAccepted?: boolean } = {},
  ) =>
    startOwnFacilitator(net, {
      env,
      isCopyAccepted,
      journal: 'unused',
      config: {
        settlement: { journal: 'none' },
        storage: { url: server.url(database).replace(`:${server.port}/`, `:${port}/`) },
        daemon: { follow_interval_ms: 1_000 },
      },
    })

  it('sells by permit and by self-transfer, and grants each once, also after a restart', async () => {
    const first = await start()
    const relayed = await first.challenge()
    const permit = bodyOf(relayed, await net.permitFor(relayed, payer))
    expect(await first.post('/verify', permit)).toMatchObject({ isValid: true })
    expect(await first.post('/settle', permit)).toMatchObject({ success: true })
    await first.challenge()
    const own = await first.challenge('2000')
    const burnTxHash = await net.transfer(payer, own.payTo, own.amount)
    await first.close()

    const second = await start()
    try {
      const transfer = bodyOf(own, { challengeNonce: own.challengeNonce, burnTxHash })
      expect(await second.post('/settle', transfer)).toMatchObject({ success: true })
      for (const body of [permit, transfer]) {
        expect(await second.post('/settle', body)).toMatchObject({
          success: false,
          errorReason: 'already_accepted',
        })
      }
      expect(await net.burnsOf(relayed.challengeNonce)).toHaveLength(1)
      await second.challenge()
      // The callers of open challenges, alike in both runs, are named by a hash. Those of accepted ones are forgotten.
      await second.challenge()
      expect(await server.run('SELECT count(asker), count(*) FROM payment', 'daemon')).toBe('3|5')
      expect(await server.run('SELECT count(DISTINCT asker) FROM payment', 'daemon')).toBe('1')
      const { journal } = (await second.admin('/status')) as { journal: { records: number } }
      expect(journal.records).toBe(Number(await server.run('SELECT max(seq) FROM event', 'daemon')))
    } finally {
      await second.close()
    }
  })

  it('a payment goes from daemon to daemon: challenged at one, verified at another, settled at a third', async () => {
    const daemons = await Promise.all([start(), start(), start()])
    try {
      const sending = daemons.filter(({ reported }) => reported('work.taken').length > 0)
      expect(sending).toHaveLength(1)
      const [idle, other] = daemons.filter((daemon) => !sending.includes(daemon))
      if (!idle || !other) throw new Error('three daemons')
      const status = await until(async () => {
        const told = (await idle.admin('/status')) as Pick<Fleet, 'daemons' | 'leases'>
        return told.daemons.filter(({ alive }) => alive).length === 3 && told
      })
      expect(status.daemons.filter(({ here }) => here)).toHaveLength(1)
      const worker = status.leases.find(({ name }) => name === 'work')?.holder
      // One of the others.
      expect(status.daemons.find(({ name }) => name === worker)).toMatchObject({ alive: true, here: false })
      const metrics = await fetch(`${idle.url}/admin/metrics`, {
        headers: { authorization: `Bearer ${net.adminToken}` },
      })
      expect((await metrics.text()).split('\n')).toEqual(
        expect.arrayContaining(['svc_daemons 3', 'svc_lease_held{lease="work"} 0']),
      )
      const offer = await idle.challenge()
      const permit = bodyOf(offer, await net.permitFor(offer, payer))
      expect(await other.post('/verify', permit)).toMatchObject({ isValid: true })
      // Both wait for the burn of the third, and one of them is served.
      const answers = await Promise.all([idle.post('/settle', permit), other.post('/settle', permit)])
      expect(answers.filter(({ success }) => success === true)).toHaveLength(1)
      for (const daemon of daemons) {
        expect(await daemon.post('/settle', permit)).toMatchObject({ errorReason: 'already_accepted' })
      }
      expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
      // Any of them tells what all of them did.
      await until(async () => {
        const told = (await idle.admin('/status')) as {
          daemons: { name: string; figures: { dayWei: string; refusals: number } }[]
        }
        const gas = told.daemons.find(({ name }) => name === worker)?.figures.dayWei
        return told.daemons.every(({ figures }) => figures.refusals > 0) && BigInt(gas ?? 0) > 0n
      })
    } finally {
      await Promise.all(daemons.map(({ close }) => close()))
    }
  })

  it('behind a backup that is accepted no address of the lost time is handed out again', async () => {
    await server.run('CREATE DATABASE lost')
    const before = await start('lost')
    const isFilled = async () => Number(await server.run('SELECT count(*) FROM ready', 'lost')) >= 8
    await until(isFilled)
    await before.close()
    await server.run('CREATE DATABASE backup TEMPLATE lost')
    const offersOf = async ({ challenge }: Awaited<ReturnType<typeof start>>) => {
      const offers = []
      for (let i = 0; i < 4; i++) offers.push(await challenge())
      return offers.map(({ payTo }) => payTo)
    }
    const running = await start('lost')
    const lost = await offersOf(running)
    await running.close()
    const again = await start('backup', { isCopyAccepted: true })
    expect((await offersOf(again)).filter((payTo) => lost.includes(payTo))).toEqual([])
    await again.close()
  })

  it('when the sender ends, another one takes its work up, with what was claimed and not signed', async () => {
    const [first, second] = [await start(), await start()]
    const offer = await second.challenge()
    const permit = bodyOf(offer, await net.permitFor(offer, payer))
    await first.close()
    expect(await second.post('/settle', permit)).toMatchObject({ success: true })
    expect(second.reported('work.taken')).toHaveLength(1)
    await second.close()
  })

  it('while the database is away payers are told to come back, and nothing is burned; it goes on without a restart', async () => {
    const wire = await startTcpSwitch(server.port)
    const daemon = await start('daemon', { port: wire.port })
    try {
      const offer = await daemon.challenge()
      const permit = bodyOf(offer, await net.permitFor(offer, await net.account({ gas: true })))
      const ask = async (path: string, body?: unknown) => {
        const headers = { 'content-type': 'application/json' }
        const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
        const response = await fetch(`${daemon.url}${path}`, init)
        const answer = (await response.json()) as Record<string, unknown>
        return { status: response.status, retryAfter: Number(response.headers.get('retry-after')), answer }
      }
      await until(async () => (await ask('/ready')).status === 200)

      wire.turn('refused')
      const away = { status: 503, retryAfter: expect.toSatisfy((seconds: number) => seconds > 0) }
      const reason = 'storage_unavailable'
      expect(await ask('/challenge', { amount: '1000' })).toMatchObject({ ...away, answer: { reason } })
      expect(await ask('/verify', permit)).toMatchObject({
        ...away,
        answer: { isValid: false, invalidReason: reason },
      })
      expect(await ask('/settle', permit)).toMatchObject({
        ...away,
        answer: { success: false, errorReason: reason },
      })
      // Not before a write failed; leases are renewed all the time.
      const unready = await until(async () => {
        const told = await ask('/ready')
        return told.status !== 200 && told
      })
      expect(unready).toMatchObject({ ...away, answer: { ready: false, problems: [{ part: 'ledger' }] } })

      wire.turn('open')
      await until(async () => (await ask('/ready')).status === 200)
      expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(0)
      expect((await ask('/verify', permit)).answer).toMatchObject({ isValid: true })
      expect((await ask('/settle', permit)).answer).toMatchObject({ success: true })
      expect((await ask('/challenge', { amount: '1000' })).status).toBe(200)
    } finally {
      await daemon.close()
      await wire.close()
    }
  })

  it('with a key of its own in each daemon all send, and a burn that is presented at two is sent by one', async () => {
    await server.run('CREATE DATABASE own_keys')
    const keys = spareAccounts.slice(0, 2)
    const [first, second] = await Promise.all(
      keys.map((key) => start('own_keys', { env: { SVC_RELAYER_PK: key.privateKey } })),
    )
    if (!first || !second) throw new Error('two daemons')
    for (const { reported } of [first, second]) expect(reported('sending.taken')).toHaveLength(1)
    const offers = await Promise.all([first.challenge(), second.challenge()])
    const payers = await Promise.all(offers.map(() => net.account({ gas: true })))
    const permits = await Promise.all(
      offers.map(async (offer, i) => bodyOf(offer, await net.permitFor(offer, payers[i] ?? payer))),
    )
    expect(await first.post('/settle', permits[0])).toMatchObject({ success: true })
    expect(await second.post('/settle', permits[1])).toMatchObject({ success: true })
    const sent = "SELECT count(*) FROM account WHERE tx_nonce >= 0 AND name LIKE 'relayer 0x%'"
    expect(await server.run(sent, 'own_keys')).toBe('2')

    // The burn of one, presented at both: the other waits for its end, and signs nothing itself.
    const both = await first.challenge()
    const once = bodyOf(both, await net.permitFor(both, await net.account({ gas: true })))
    const answers = await Promise.all([first.post('/settle', once), second.post('/settle', once)])
    expect(answers.filter(({ success }) => success === true)).toHaveLength(1)
    expect(answers.filter(({ errorReason }) => errorReason === 'already_accepted')).toHaveLength(1)
    for (const { reported } of [first, second]) expect(reported('burn.interrupted')).toEqual([])
    for (const { close } of [first, second]) await close()
  })
})
