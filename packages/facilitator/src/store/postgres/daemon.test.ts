/** A daemon whose ledger is on PostgreSQL sells, stops and goes on, as one with a journal does. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { startTcpSwitch } from '../../../../../test/support/tcp-switch.js'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf } from '../../../test/payment.js'

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
      const { journal } = (await second.admin('/status')) as { journal: { records: number } }
      expect(journal.records).toBe(Number(await server.run('SELECT max(seq) FROM event', 'daemon')))
    } finally {
      await second.close()
    }
  })

  it('one of three is active: the others say so, with 503, answer what needs no ledger, and take over in turn', async () => {
    const daemons = await Promise.all([start(), start(), start()])
    const left = new Set(daemons)
    try {
      const active = daemons.find(({ reported }) => reported('active.taken').length > 0)
      if (!active) throw new Error('nobody is active')
      const others = daemons.filter((daemon) => daemon !== active)
      for (const { reported } of others) expect(reported('facilitator.standby')).toHaveLength(1)
      const offer = await active.challenge()
      const permit = bodyOf(offer, await net.permitFor(offer, payer))
      const authorization = `Bearer ${net.adminToken}`
      for (const { url } of others) {
        const ask = async (path: string, body?: unknown, headers = {}) => {
          const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
          const answer = await fetch(`${url}${path}`, {
            ...init,
            headers: { 'content-type': 'application/json', ...headers },
          })
          const text = await answer.text()
          return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text }
        }
        for (const [path, body] of [
          ['/challenge', { amount: '1000' }],
          ['/verify', permit],
          ['/settle', permit],
          [`/payments/${offer.challengeNonce}`],
        ] as const) {
          const text = expect.stringMatching(/"(?:reason|invalidReason|errorReason)":"standby"/)
          expect(await ask(path, body), path).toEqual({ status: 503, retryAfter: '1', text })
        }
        expect(await ask('/admin/status', undefined, { authorization })).toMatchObject({ status: 503 })
        expect(await ask('/admin/status')).toMatchObject({ status: 401 })
        const problems = [{ part: 'standby', problem: 'another daemon is active for the ledger' }]
        const ready = await ask('/ready')
        expect([ready.status, JSON.parse(ready.text)]).toEqual([503, { ready: false, problems }])
        for (const path of ['/health', '/supported', '/openapi.json', '/dashboard']) {
          expect((await ask(path)).status, path).toBe(200)
        }
        expect((await ask('/nothing')).status).toBe(404)
        const lines = ['svc_daemons 3', 'svc_lease_held{lease="active"} 0', 'svc_ready 1']
        await until(async () => {
          const { text } = await ask('/admin/metrics', undefined, { authorization })
          return lines.every((line) => text.includes(line))
        })
      }
      expect(await active.post('/settle', permit)).toMatchObject({ success: true })
      for (let first = active; ; ) {
        left.delete(first)
        await first.close()
        if (left.size === 0) break
        first = await until(async () => [...left].find(({ reported }) => reported('active.taken').length > 0))
        expect(await first.post('/settle', permit)).toMatchObject({ errorReason: 'already_accepted' })
      }
      expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
    } finally {
      await Promise.all([...left].map(({ close }) => close()))
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

  it('a daemon that stands by sends its operator to the active one, and tells what it knows itself once the database is away', async () => {
    const active = await start()
    const wire = await startTcpSwitch(server.port)
    const other = await start('daemon', { port: wire.port })
    try {
      expect(await other.admin('/status')).toMatchObject({ reason: 'standby' })
      wire.turn('refused')
      expect(await other.admin('/status')).toMatchObject({
        ready: false,
        problems: [{ part: 'standby' }, { part: 'ledger', problem: 'does not answer' }],
      })
      expect((await active.post('/challenge', { amount: '1000' })).challengeNonce).toBeDefined()
    } finally {
      wire.turn('open')
      await other.close()
      await active.close()
      await wire.close()
    }
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
      // Also a daemon that nobody asks for anything knows at once, and what belongs to the process is told.
      const scraped = await fetch(`${daemon.url}/admin/metrics`, {
        headers: { authorization: `Bearer ${net.adminToken}` },
      })
      const lines = (await scraped.text()).split('\n')
      expect(scraped.status).toBe(200)
      expect(lines).toContain('svc_ready 0')
      expect(lines.some((line) => /^svc_addresses_ready \d+$/.test(line))).toBe(true)
      expect(lines.some((line) => line.startsWith('svc_mints_owed_base_units '))).toBe(false)
      const status = (await daemon.admin('/status')) as Record<string, unknown>
      const problems = expect.arrayContaining([expect.objectContaining({ part: 'ledger' })])
      expect(status).toMatchObject({ ready: false, problems, addresses: {}, relayer: {}, chain: {} })
      for (const field of ['issuance', 'payments', 'mints', 'fees', 'challenges', 'daemons'])
        expect(status).not.toHaveProperty(field)
      const shell = {
        env: { ...process.env, SVC_ADMIN_TOKEN: net.adminToken },
        encoding: 'utf8',
      } as const
      const bin = fileURLToPath(new URL('../../../bin/svc-facilitator.mjs', import.meta.url))
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [bin, 'admin', 'status', '--url', daemon.url],
        shell,
      )
      expect(stdout).toMatch(/^ready +no$/m)
      expect(stdout).toMatch(/^ledger +\S/m)
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
})
