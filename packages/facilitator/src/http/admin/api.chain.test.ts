import { developmentRoles } from '@svc-zerc20/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startBeside } from '../../../test/beside.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { createAdminClient } from '../../commands/admin/client.js'
import * as schemas from './schemas.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

const admin = (path: string, method = 'GET') =>
  net.send(`/admin${path}`, { method, headers: { authorization: `Bearer ${net.adminToken}` } })
const nonceOf = (n: string) => `0x${n.repeat(64)}`

describe('without the token', () => {
  const known = [
    '/status',
    '/hours',
    '/mints',
    '/waiting',
    '/indexer',
    '/payments',
    `/payments/${nonceOf('a')}`,
    '/late',
    '/metrics',
  ]
  const unknown = [
    '',
    '/',
    '/nothing',
    '/status/more',
    '/payments/',
    '/%20',
    '/..%2fsupported',
    '/%',
    `/payments/${'a'.repeat(500)}`,
  ]

  it.each([...known, ...unknown])(
    'R-124 R-160 GET /admin%s answers 401 and says how to come in',
    async (path) => {
      const { status, headers, body } = await net.send(`/admin${path}`)
      expect([status, body.reason]).toEqual([401, 'unauthorized'])
      expect(headers.get('www-authenticate')).toBe('Bearer')
    },
  )

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'R-160 %s answers 401, whatever the body, and changes nothing',
    async (method) => {
      for (const path of ['/pause', '/nothing']) {
        const { status } = await net.send(`/admin${path}`, {
          method,
          body: '{',
          headers: { 'content-type': 'application/json' },
        })
        expect(status).toBe(401)
      }
      expect((await net.post('/challenge', { amount: '1' })).status).toBe(200)
    },
  )

  it.each([
    ['another token', () => `Bearer ${'0'.repeat(48)}`],
    ['half the token', () => `Bearer ${net.adminToken.slice(0, 24)}`],
    ['the token and more', () => `Bearer ${net.adminToken}0`],
    ['another case', () => `Bearer ${net.adminToken.toUpperCase()}`],
    ['no scheme', () => net.adminToken],
    ['another scheme', () => `Basic ${btoa(`admin:${net.adminToken}`)}`],
    ['two tokens', () => `Bearer ${net.adminToken} ${net.adminToken}`],
    ['nothing after the scheme', () => 'Bearer '],
  ])('R-141 R-160 %s answers 401', async (_, authorization) => {
    const { status } = await net.send('/admin/status', { headers: { authorization: authorization() } })
    expect(status).toBe(401)
  })

  it('the token counts in its header and nowhere else', async () => {
    const { status } = await net.send(`/admin/status?token=${net.adminToken}&access_token=${net.adminToken}`)
    expect(status).toBe(401)
  })
})

describe('R-142 a local daemon without a token', () => {
  it.each(['', 'Bearer ', 'Bearer undefined', 'Bearer [secret]'])(
    'is locked: "%s" gets 401 on every path',
    async (authorization) => {
      const locked = await startBeside(net, {
        profile: 'local',
        env: {
          SVC_TREASURY_PK: developmentRoles.treasury.privateKey,
          SVC_RELAYER_PK: developmentRoles.relayer.privateKey,
        },
      })
      try {
        for (const path of ['/status', '/metrics', '/nothing', '/']) {
          const { status } = await fetch(`${locked.url}/admin${path}`, { headers: { authorization } })
          expect(status).toBe(401)
        }
        expect((await fetch(`${locked.url}/supported`)).status).toBe(200)
      } finally {
        await locked.close()
      }
    },
  )
})

describe('with the token', () => {
  it('R-141 the scheme may be written in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const { status } = await net.send('/admin/status', {
        headers: { authorization: `${scheme} ${net.adminToken}` },
      })
      expect(status).toBe(200)
    }
  })

  it('an unknown path is not found, and no answer may be cached', async () => {
    const { status, headers, body } = await admin('/nothing')
    expect([status, body.reason]).toEqual([404, 'not_found'])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('a path that cannot be read is told from one that is not there', async () => {
    expect((await admin('/%')).status).toBe(400)
    expect((await admin(`/payments/${'a'.repeat(500)}`)).status).toBe(404)
  })

  it('R-124 status shows the daemon at a glance', async () => {
    const { body } = await admin('/status')
    expect(body).toMatchObject({
      network: 'eip155:31337',
      profile: 'local',
      acceptsPayments: true,
      issuance: 'open',
      ready: true,
      problems: [],
      relayer: { address: developmentRoles.relayer.address.toLowerCase(), pending: 0 },
    })
    expect(BigInt((body.relayer as { balance: string }).balance)).toBeGreaterThan(0n)
  })

  it('pause stops issuance alone: 503 with Retry-After, until resume', async () => {
    const payer = await net.account()
    const open = await net.permitPayment(payer)
    expect((await admin('/pause', 'POST')).body).toEqual({ issuance: 'paused' })
    const { status, headers, body } = await net.post('/challenge', { amount: '1' })
    expect([status, body.reason]).toEqual([503, 'issuance_paused'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await admin('/status')).body.issuance).toBe('paused')
    expect((await net.settle(open.body)).body.success).toBe(true)
    expect((await admin('/resume', 'POST')).body).toEqual({ issuance: 'open' })
    await net.challenge()
    expect(net.events.map(({ event }) => event).filter((event) => event.startsWith('issuance'))).toEqual([
      'issuance.paused',
      'issuance.resumed',
    ])
  })
})

describe('payments', () => {
  type Payment = { challengeNonce: string; phase: string; claimed: boolean; granted: boolean }

  it('are listed by phase, newest first, page by page', async () => {
    const payer = await net.account()
    const paid = await net.permitPayment(payer)
    await net.settle(paid.body)
    net.clock.advance(1_000)
    const { challengeNonce } = await net.challenge('77')

    const open = (await admin('/payments?phase=open&limit=1')).body as { payments: Payment[] }
    expect(open.payments).toMatchObject([{ challengeNonce, phase: 'open', amount: '77', claimed: false }])
    const accepted = (await admin('/payments?phase=accepted')).body as { payments: Payment[] }
    expect(accepted.payments.map((payment) => payment.challengeNonce)).toContain(paid.offer.challengeNonce)
    expect(new Set(accepted.payments.map(({ phase }) => phase))).toEqual(new Set(['accepted']))

    const all: Payment[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = (await admin(`/payments?limit=2${next && `&after=${next}`}`)).body
      all.push(...(page.payments as Payment[]))
      next = page.next as string | undefined
    }
    const whole = (await admin('/payments?limit=500')).body as { payments: Payment[] }
    expect(all).toEqual(whole.payments)
    expect(all[0]?.challengeNonce).toBe(challengeNonce)
  })

  it('one is shown with its burn and its turns', async () => {
    const payer = await net.account()
    const { offer, body: payment } = await net.permitPayment(payer)
    const settled = await net.settle(payment)
    // A grant is recorded once its answer was written, so shortly after the caller has it.
    const body = await until(async () => {
      const shown = (await admin(`/payments/${offer.challengeNonce}`)).body
      return (shown.payment as { granted: boolean }).granted && shown
    })
    expect(body).toMatchObject({
      payment: {
        phase: 'accepted',
        payTo: offer.payTo,
        claimed: true,
        granted: true,
        transaction: settled.body.transaction,
        burn: { transaction: settled.body.transaction, from: payer.address, value: '1000' },
      },
      timeline: [
        { event: 'challenge_issued' },
        { event: 'payment_claimed' },
        { event: 'payment_accepted', txHash: settled.body.transaction },
        { event: 'grant_used' },
      ],
    })
  })

  it('are found by their burn, and narrowed by amount and seller', async () => {
    const { offer, body: payment } = await net.permitPayment(await net.account(), '4321')
    const { transaction } = (await net.settle(payment)).body
    const found = async (query: string) =>
      ((await admin(`/payments?${query}`)).body.payments as Payment[]).map(
        ({ challengeNonce }) => challengeNonce,
      )
    for (const name of [
      transaction,
      transaction.toUpperCase().replace('0X', '0x'),
      offer.payTo,
      offer.challengeNonce,
    ])
      expect(await found(`find=${name}`)).toEqual([offer.challengeNonce])
    expect(await found('minAmount=4321&maxAmount=4321')).toEqual([offer.challengeNonce])
    expect(await found('minAmount=4321&seller=nobody')).toEqual([])
    const waiting = (await admin('/waiting?reason=off&limit=500')).body.payments as Payment[]
    expect(waiting.map(({ challengeNonce }) => challengeNonce)).toContain(offer.challengeNonce)
    expect((await admin('/waiting?reason=unfunded')).body.payments).toEqual([])
  })

  it('are added up by the hour', async () => {
    const now = Math.floor(net.clock.now() / 1000)
    const { body } = await admin(`/hours?since=${now - 3_600}&until=${now + 3_600}`)
    const hours = body.hours as { at: number; accepted: { payments: number; amount: string } }[]
    expect(hours.at(-1)?.at).toBe(now - (now % 3_600))
    expect(hours.reduce((sum, { accepted }) => sum + accepted.payments, 0)).toBeGreaterThan(0)
    expect((await admin(`/hours?since=${now - 30 * 86_400}&until=${now + 3_600}`)).body.hours).toEqual(hours)
    expect((await admin(`/hours?since=${now}&until=${now - 3_600}`)).status).toBe(400)
    expect((await admin(`/hours?since=0&until=${now}`)).body.error).toContain('32 days')
  })

  it('R-124 mints come with the settings that hide them, and the indexer is not asked where nothing is minted', async () => {
    expect((await admin('/mints')).body).toMatchObject({
      mints: [],
      settings: { mode: 'single', ownMinter: false },
    })
    expect((await admin('/indexer')).body).toEqual({
      reachable: false,
      off: expect.stringContaining('proving keys'),
    })
  })

  it.each([
    'find=0x12',
    'minAmount=1.5',
    'phase=paid',
    'limit=0',
    'limit=x',
    'since=-1',
    'until=1e3',
    'after=1',
    'phase=open&phase=expired',
  ])('refuses the query %s and names what is wrong', async (query) => {
    const { status, body } = await admin(`/payments?${query}`)
    expect([status, body.reason]).toEqual([400, 'malformed_request'])
    expect(body.error).toContain(query.split('=')[0])
  })

  it.each([nonceOf('b'), '0x', 'x'])('there is none with the nonce %s', async (nonce) => {
    expect((await admin(`/payments/${nonce}`)).status).toBe(404)
  })

  it('late and unmatched burns are shown', async () => {
    const payer = await net.account({ gas: true })
    const under = await net.challenge()
    const small = await net.transfer(payer, under.payTo, '999')
    await net.settle({ challengeNonce: under.challengeNonce, burnTxHash: small })
    const late = await net.challenge()
    const hash = await net.transfer(payer, late.payTo, '1000')
    // Past the expiry, and past the time in which a seller may bring what it saw before.
    const lateMs = 901_000
    net.clock.advance(lateMs)
    await net.settle({ challengeNonce: late.challengeNonce, burnTxHash: hash })

    const { body } = await admin('/late')
    expect(body).toMatchObject({
      late: [
        { challengeNonce: late.challengeNonce, phase: 'expired', late: { transaction: hash, value: '1000' } },
      ],
      unmatched: [{ challengeNonce: under.challengeNonce, txHash: small, reason: 'burn_underpaid' }],
    })
    expect((await admin('/status')).body.payments).toMatchObject({ late: 1, unmatched: 1 })
    // Blocks have the real time. A daemon whose clock stayed ahead of them would not be ready again.
    net.clock.advance(-lateMs)
  })

  it('the relayer shows what it has in flight', async () => {
    const payer = await net.account()
    const { body: payment } = await net.permitPayment(payer)
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'error', message: 'not now' }])
    const settling = net.settle(payment)
    try {
      let queue: unknown[] = []
      while (queue.length === 0) queue = (await admin('/status')).body.queue as unknown[]
      expect(queue).toMatchObject([
        { account: 'relayer', txNonce: expect.any(Number), versions: 1, unfunded: false },
      ])
    } finally {
      net.chain.setFaults([])
    }
    expect((await settling).body.success).toBe(true)
    expect((await admin('/status')).body).toMatchObject({ relayer: { pending: 0 }, queue: [] })
  })
})

describe('metrics', () => {
  it('tell what happened, with the words of the log', async () => {
    // A busy machine may need a moment to fill the pool.
    await until(async () => (await net.send('/ready')).status === 200)
    await net.post('/challenge', { amount: 'x' })
    const { text, headers } = await admin('/metrics')
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4')
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    const heard = (name: string) => net.events.filter(({ event }) => event === name).length
    expect(value('svc_events_total{event="payment.accepted"}')).toBe(heard('payment.accepted'))
    expect(value('svc_events_total{event="challenge.issued"}')).toBe(heard('challenge.issued'))
    expect(value('svc_refusals_total{endpoint="/challenge",reason="invalid_amount"}')).toBe(1)
    expect(value('svc_http_request_duration_seconds_count{endpoint="/settle",status="200"}')).toBeGreaterThan(
      0,
    )
    expect(value('svc_rpc_calls_total{method="eth_sendRawTransaction"}')).toBeGreaterThan(0)
    expect(value('svc_ready')).toBe(1)
    expect(value('svc_refusals_total{endpoint="/challenge",reason="challenge_limit"}')).toBe(0)
    expect(value('svc_addresses_ready')).toBeGreaterThan(0)
    expect(value('svc_challenges_max')).toBeGreaterThan(0)
    expect(value('svc_challenges_open')).toBeGreaterThanOrEqual(0)
    expect(value('svc_accepted_base_units_total')).toBeGreaterThan(0)
    expect(value('svc_relayer_spent_wei_total{purpose="burn"}')).toBeGreaterThan(0)
    expect(value('svc_relayer_balance_wei')).toBeGreaterThan(0)
  })

  it('get no series from paths that callers make up', async () => {
    for (let i = 0; i < 20; i++) await net.send(`/made-up-${i}`)
    const { text } = await admin('/metrics')
    expect(text).not.toContain('made-up')
    expect(text).toContain('endpoint="unknown",reason="not_found"')
  })
})

describe('while the node does not do its work', () => {
  let withFee: TestNetwork
  beforeAll(async () => {
    withFee = await startNetwork({ fee: { chargeTo: 'payer', isSplit: false } })
  })
  afterAll(() => withFee.close())

  it.each([
    ['hangs', { method: '*', kind: 'hang' }],
    ['answers with nothing', { method: '*', kind: 'result', value: null }],
  ] as const)('because it %s, status and metrics are shown as soon as the command asks', async (_, fault) => {
    withFee.chain.setFaults([fault])
    try {
      // The command waits ten seconds, like most that gather metrics.
      const client = createAdminClient({ url: withFee.facilitatorUrl, token: withFee.adminToken })
      expect(await client.get('/status', schemas.status)).toMatchObject({ version: expect.any(String) })
      expect(await client.text('/metrics')).toContain('svc_ready')
    } finally {
      withFee.chain.setFaults([])
    }
  })
})
