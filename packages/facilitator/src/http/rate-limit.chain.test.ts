import { createHash } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startNetwork as startMoving, type TestNetwork } from '../../test/network.js'
import { bodyOf, type ChallengeOffer } from '../../test/payment.js'
import { limits } from '../config/limits.js'

const rates = { rate_limit_per_min: 6, challenge_per_key_per_min: 4 }
let net: TestNetwork
let payer: PrivateKeyAccount

/** Its time stands, because a slow machine could else take longer than the minute of a rate. */
async function startNetwork(options: Parameters<typeof startMoving>[0]): Promise<TestNetwork> {
  const started = await startMoving(options)
  started.clock.stand()
  return started
}

/** A well-formed payment for a challenge that was never issued. */
const unknownPayment = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: {},
    payload: { challengeNonce: `0x${'99'.repeat(32)}`, burnTxHash: `0x${'88'.repeat(32)}` },
  },
  paymentRequirements: { scheme: 'svc-zerc20' },
}

const statuses = async (count: number, ask: () => Promise<{ status: number }>) => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await ask()).status)
  return seen
}

describe('rates per caller', () => {
  beforeAll(async () => {
    net = await startNetwork({ config: { daemon: rates } })
    payer = await net.account()
  })
  beforeEach(() => net.clock.advance(60_000))
  afterAll(() => net.close())

  it('R-159 R-110 issuance above its rate is 429 with Retry-After, and free again after a minute', async () => {
    const ask = () => net.post('/challenge', { amount: '1' })
    expect(await statuses(4, ask)).toEqual([200, 200, 200, 200])
    const { status, headers, body } = await ask()
    expect([status, body.reason]).toEqual([429, 'too_many_requests'])
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    net.clock.advance(seconds * 1000)
    expect((await ask()).status).toBe(200)
  })

  it('a made-up X-Forwarded-For is no way around it: no proxy is trusted', async () => {
    let caller = 0
    const ask = () => net.post('/challenge', { amount: '1' }, { 'x-forwarded-for': `10.0.0.${++caller}` })
    expect(await statuses(6, ask)).toEqual([200, 200, 200, 200, 429, 429])
  })

  const ofEach = (count: number, path: string, headers: Record<string, string> = {}) =>
    Promise.all(Array.from({ length: count }, () => net.send(path, { headers })))

  it('requests that reach no route have a rate, with the wrong method and in a broken path, too', async () => {
    expect(await statuses(2, () => net.send('/verify'))).toEqual([405, 405])
    expect(await statuses(2, () => net.send('/payments/%E0%A4%A'))).toEqual([400, 400])
    const answers = await ofEach(limits.asidePerMin.unrouted - 4, '/nothing')
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    const { status, headers, body } = await net.send('/nothing')
    expect([status, body.reason, headers.has('retry-after')]).toEqual([429, 'too_many_requests', true])
  })

  it.each([
    ['the document', 'document', '/openapi.json', 200],
    ['the status of a payment', 'status', '/payments/0x99', 404],
    ['a web page', 'page', '/dashboard/', 200],
  ] as const)('%s has a rate of its own', async (_what, kind, path, usual) => {
    const answers = await ofEach(limits.asidePerMin[kind], path)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([usual]))
    const { status, headers } = await net.send(path)
    expect([status, headers.has('retry-after')]).toEqual([429, true])
  })

  it('R-072 no icon, page, document, status or wrong token takes from the rate of the payments', async () => {
    for (const path of ['/favicon.ico', '/dashboard/', '/openapi.json', '/payments/0x99', '/admin/status']) {
      await ofEach(2 * rates.rate_limit_per_min, path, { authorization: 'Bearer guessed' })
    }
    expect(await statuses(4, () => net.post('/challenge', { amount: '1' }))).toEqual([200, 200, 200, 200])
    expect(await statuses(3, () => net.verify(unknownPayment))).toEqual([200, 200, 429])
  })

  it('R-142 R-160 without its token the operator’s surface is 401 however often it is asked, only later', async () => {
    const askedAtMs = Date.now()
    const answers = await ofEach(limits.wrongTokensFree + 2, '/admin/status')
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.reason}`))).toEqual(
      new Set(['401 unauthorized']),
    )
    expect(Date.now() - askedAtMs).toBeGreaterThanOrEqual(2 * limits.wrongTokenWaitFirstMs)
    expect((await net.admin('/status')).status).toBe(200)
  })

  it.each([
    ['JSON that breaks off', '{', 'application/json', 400],
    ['another media type', 'amount=1', 'application/x-www-form-urlencoded', 415],
    ['more than any payment has', `"${'x'.repeat(70_000)}"`, 'application/json', 413],
  ])('R-072 a body that nobody reads counts as well: %s', async (_what, body, type, usual) => {
    const headers = { 'content-type': type }
    const ask = (path: string) => () => net.send(path, { method: 'POST', headers, body })
    expect(await statuses(2, ask('/challenge'))).toEqual([usual, usual])
    expect(await statuses(2, ask('/verify'))).toEqual([usual, usual])
    expect(await statuses(2, ask('/settle'))).toEqual([usual, usual])
    const refused = await ask('/settle')()
    expect([refused.status, refused.body.errorReason, refused.headers.has('retry-after')]).toEqual([
      429,
      'too_many_requests',
      true,
    ])
    expect((await net.verify(unknownPayment)).status).toBe(429)
  })

  it('R-140 challenge, verify and settle share one rate', async () => {
    expect(await statuses(2, () => net.post('/challenge', { amount: '1' }))).toEqual([200, 200])
    expect(await statuses(2, () => net.verify(unknownPayment))).toEqual([200, 200])
    expect(await statuses(3, () => net.settle(unknownPayment))).toEqual([200, 200, 429])
    const { headers, body } = await net.settle(unknownPayment)
    expect(body).toMatchObject({
      success: false,
      errorReason: 'too_many_requests',
      transaction: '',
      network: 'eip155:31337',
    })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await net.verify(unknownPayment)).body).toMatchObject({
      isValid: false,
      invalidReason: 'too_many_requests',
    })
    expect((await net.post('/challenge', { amount: '1' })).status).toBe(429)
  })

  it('malformed bodies count too', async () => {
    expect(await statuses(7, () => net.settle({}))).toEqual([400, 400, 400, 400, 400, 400, 429])
  })

  it('R-072 payments for challenges of ours share that rate, too, and so do those that expired', async () => {
    const { body } = await net.permitPayment(payer)
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect(await statuses(4, () => net.verify(unknownPayment))).toEqual([200, 200, 200, 200])
    expect((await net.verify(body)).body).toMatchObject({ invalidReason: 'too_many_requests' })
    net.clock.advance(301_000)
    expect(await statuses(7, () => net.verify(body))).toEqual([200, 200, 200, 200, 200, 200, 429])
  })

  it('a claimed payment is turned away by the rate of its challenge and by no other', async () => {
    const { body } = await net.permitPayment(payer)
    expect((await net.settle(body)).body.success).toBe(true)
    net.clock.advance(61_000)
    await statuses(6, () => net.verify(unknownPayment))
    expect((await net.verify(unknownPayment)).status).toBe(429)
    const seen = await statuses(14, () => net.settle(body))
    expect(seen.filter((status) => status !== 429)).toHaveLength(12)
    expect(seen.slice(12)).toEqual([429, 429])
  })
})

describe('many payments of one caller', () => {
  const seller = { name: 'shop', token: 'a0'.repeat(32) }
  beforeAll(async () => {
    net = await startNetwork({
      config: {
        daemon: { rate_limit_per_min: 60, challenge_per_key_per_min: 20 },
        sellers: [
          {
            name: seller.name,
            token_sha256: createHash('sha256').update(seller.token).digest('hex'),
            rate_limit_per_min: 100,
            challenge_per_key_per_min: 40,
          },
        ],
      },
    })
  })
  afterAll(() => net.close())

  /** How many of so many verifies, spread over ten challenges, are judged and not refused for their rate. */
  async function judged(asked: number, headers: Record<string, string> = {}): Promise<number> {
    const bodies: object[] = []
    for (let i = 0; i < 10; i++) {
      const { body } = await net.post('/challenge', { amount: '1' }, headers)
      const offer = body as ChallengeOffer
      const { challengeNonce } = offer
      bodies.push(bodyOf(offer, { challengeNonce, burnTxHash: `0x${'88'.repeat(32)}` }))
    }
    let passed = 0
    for (let at = 0; at < asked; at++) {
      const { status } = await net.post('/verify', bodies[at % bodies.length], headers)
      if (status === 200) passed += 1
    }
    return passed
  }

  it('R-072 are bounded by its one rate, with its challenges, a seller by its own', async () => {
    expect(await judged(200)).toBe(60 - 10)
    expect((await net.post('/challenge', { amount: '1' })).status).toBe(429)
    const asSeller = { authorization: `Bearer ${seller.token}` }
    expect(await judged(200, asSeller)).toBe(100 - 10)
    expect((await net.post('/verify', unknownPayment, asSeller)).status).toBe(429)
  })
})

describe('a shop whose strangers present junk for challenges of theirs', () => {
  const token = 'b1'.repeat(32)
  beforeAll(async () => {
    net = await startNetwork({
      config: {
        daemon: { rate_limit_per_min: 120, challenge_per_key_per_min: 60 },
        sellers: [{ name: 'shop', token_sha256: createHash('sha256').update(token).digest('hex') }],
      },
    })
    payer = await net.account({ gas: true })
  })
  beforeEach(() => net.clock.advance(60_000))
  afterAll(() => net.close())

  const asShop = { authorization: `Bearer ${token}` }
  const junkFor = (offer: ChallengeOffer) =>
    bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash: `0x${'88'.repeat(32)}` })

  it.each([
    ['four strangers, many times each', 4, 62, {}],
    ['four strangers at a seller with a token', 4, 62, asShop],
    ['forty strangers at a seller with a token, a few times each', 40, 6, asShop],
  ])(
    'serves customers, those who come and those who have burned: %s',
    async (_what, strangers, times, headers) => {
      const offer = (await net.post('/challenge', { amount: '1' }, headers)).body as ChallengeOffer
      const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
      const burned = bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash })
      for (let i = 0; i < strangers; i++) {
        const { body } = await net.post('/challenge', { amount: '1' }, headers)
        const junk = junkFor(body as ChallengeOffer)
        await Promise.all(Array.from({ length: times }, () => net.post('/verify', junk, headers)))
      }
      expect((await net.post('/verify', burned, headers)).body).toMatchObject({ isValid: true })
      expect((await net.post('/settle', burned, headers)).body).toMatchObject({ success: true })
      expect((await net.post('/challenge', { amount: '1' }, headers)).status).toBe(200)
    },
  )

  it('a shop without a token that many strangers use up is told when to bring the burned payment, and it is served', async () => {
    const offer = await net.challenge()
    const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
    const burned = bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash })
    for (let i = 0; i < 40; i++) {
      const junk = junkFor(await net.challenge().catch(() => offer))
      await Promise.all(Array.from({ length: 6 }, () => net.verify(junk)))
    }
    const { status, headers } = await net.settle(burned)
    expect(status).toBe(429)
    net.clock.advance(Number(headers.get('retry-after')) * 1000)
    expect((await net.settle(burned)).body).toMatchObject({ success: true })
  })

  it('challenges beyond their rate leave the shared rate to the payments under way', async () => {
    const { body } = await net.permitPayment(payer)
    await Promise.all(Array.from({ length: 200 }, () => net.post('/challenge', { amount: '1' })))
    expect((await net.verify(body)).body).toMatchObject({ isValid: true })
    expect((await net.settle(body)).body).toMatchObject({ success: true })
  })

  it('and junk for challenges that expired or were served leaves the shared rate alone, too', async () => {
    const expired = junkFor(await net.challenge())
    net.clock.advance(301_000)
    const { body: served } = await net.permitPayment(payer)
    expect((await net.settle(served)).body.success).toBe(true)
    for (const junk of [expired, served]) {
      await Promise.all(Array.from({ length: 130 }, () => net.settle(junk)))
    }
    expect((await net.settle(expired)).status).toBe(429)
    expect((await net.post('/challenge', { amount: '1' })).status).toBe(200)
  })

  it('a seller without rates of its own has ten times those of a stranger', async () => {
    const issued = await Promise.all(
      Array.from({ length: 100 }, () => net.post('/challenge', { amount: '1' }, asShop)),
    )
    expect(issued.filter(({ status }) => status === 429)).toEqual([])
  })
})

describe('behind a trusted proxy', () => {
  beforeAll(async () => {
    net = await startNetwork({
      config: { daemon: rates, listen: { trusted_proxies: ['127.0.0.1'] } },
    })
  })
  beforeEach(() => net.clock.advance(60_000))
  afterAll(() => net.close())

  const askFrom = (ip: string) => () => net.post('/challenge', { amount: '1' }, { 'x-forwarded-for': ip })

  it('the key is the address the proxy names, an IPv6 one by its /64', async () => {
    expect(await statuses(5, askFrom('203.0.113.1'))).toEqual([200, 200, 200, 200, 429])
    expect((await askFrom('203.0.113.2')()).status).toBe(200)
    expect(await statuses(4, askFrom('2001:db8::1'))).toEqual([200, 200, 200, 200])
    expect((await askFrom('2001:db8:0:0:ffff::2')()).status).toBe(429)
    expect((await askFrom('2001:db8:0:1::2')()).status).toBe(200)
  })

  it('a stranger who presents a claimed payment over and over does not hold up the one who paid', async () => {
    const payer = await net.account()
    const { body } = await net.permitPayment(payer)
    const presentFrom = (ip: string) => () => net.post('/settle', body, { 'x-forwarded-for': ip })
    expect((await presentFrom('203.0.113.20')()).body).toMatchObject({ success: true })
    const stranger = await statuses(14, presentFrom('203.0.113.21'))
    expect(stranger.slice(12)).toEqual([429, 429])
    const payerAgain = await statuses(12, presentFrom('203.0.113.20'))
    expect(payerAgain.filter((status) => status === 429)).toHaveLength(1)
  })

  it('what the caller itself wrote before the proxy added its address does not count', async () => {
    let made = 0
    const ask = () =>
      net.post('/challenge', { amount: '1' }, { 'x-forwarded-for': `10.0.0.${++made}, 203.0.113.9` })
    expect(await statuses(5, ask)).toEqual([200, 200, 200, 200, 429])
  })
})
