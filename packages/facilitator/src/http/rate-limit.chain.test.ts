import { createHash } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startNetwork as startMoving, type TestNetwork } from '../../test/network.js'
import { bodyOf, type ChallengeOffer, requirementsOf } from '../../test/payment.js'

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

  it('requests that reach no route count, too, with the wrong method and in a broken path', async () => {
    const get = (path: string) => net.send(path)
    expect(await statuses(3, () => get('/nothing'))).toEqual([404, 404, 404])
    expect(await statuses(2, () => get('/verify'))).toEqual([405, 405])
    expect(await statuses(2, () => get('/payments/%E0%A4%A'))).toEqual([400, 429])
    const { status, headers, body } = await get('/nothing')
    expect([status, body.reason, headers.has('retry-after')]).toEqual([429, 'too_many_requests', true])
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

  it('a known challenge keeps its own room when the rate of its caller is used up', async () => {
    const { body } = await net.permitPayment(payer)
    await statuses(10, () => net.verify(unknownPayment))
    expect((await net.verify(unknownPayment)).status).toBe(429)
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect((await net.settle(body)).body.success).toBe(true)
  })

  it('a payment that expired, or was served, has no room of its own any more', async () => {
    net.clock.advance(61_000)
    const { body } = await net.permitPayment(payer)
    expect((await net.settle(body)).body.success).toBe(true)
    net.clock.advance(61_000)
    const served = await statuses(11, () => net.settle(body))
    expect(served.filter((status) => status === 429)).toHaveLength(11 - 6)
    net.clock.advance(61_000)
    const expired = await net.permitPayment(payer)
    net.clock.advance(301_000)
    const late = await statuses(11, () => net.settle(expired.body))
    expect(late.filter((status) => status === 429)).toHaveLength(11 - 6)
  })

  it('and that room ends as well: 12 requests a minute for one payment, then as many as its caller’s rate', async () => {
    net.clock.advance(61_000)
    const offer = await net.challenge()
    const body = bodyOf(offer, unknownPayment.paymentPayload.payload, requirementsOf(offer))
    const named = {
      ...body,
      paymentPayload: {
        ...body.paymentPayload,
        payload: { challengeNonce: offer.challengeNonce, payer: '0x' },
      },
    }
    // Malformed payloads name no challenge and fall under the caller's own rate.
    expect((await net.verify(named)).body.invalidReason).toBe('malformed_payload')
    const known = bodyOf(offer, {
      challengeNonce: offer.challengeNonce,
      burnTxHash: `0x${'88'.repeat(32)}`,
    })
    const seen = await statuses(45, () => net.verify(known))
    expect(seen.filter((status) => status === 200)).toHaveLength(12 + 6)
    expect(seen.at(-1)).toBe(429)
    // None of them came from the shared rate, of which the challenge and the malformed payload took two.
    expect(await statuses(5, () => net.verify(unknownPayment))).toEqual([200, 200, 200, 200, 429])
  })
})

describe('a caller with many known challenges', () => {
  const seller = { name: 'shop', token: 'a0'.repeat(32) }
  beforeAll(async () => {
    net = await startNetwork({
      config: {
        daemon: { rate_limit_per_min: 120, challenge_per_key_per_min: 20 },
        sellers: [
          {
            name: seller.name,
            token_sha256: createHash('sha256').update(seller.token).digest('hex'),
            rate_limit_per_min: 300,
            challenge_per_key_per_min: 40,
          },
        ],
      },
    })
  })
  afterAll(() => net.close())

  /** How many of so many verifies, spread over known challenges, are judged and not refused for their rate. */
  async function judged(asked: number, headers: Record<string, string> = {}): Promise<number> {
    const bodies: object[] = []
    for (let i = 0; i < 18; i++) {
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

  it('has once more its own rate for them, and no more, a seller by its own', async () => {
    expect(await judged(18 * 30)).toBe(120 + 120)
    const asSeller = { authorization: `Bearer ${seller.token}` }
    // Each challenge has 12 within the ceiling of 300, and the rate of 300 beyond.
    expect(await judged(18 * 30, asSeller)).toBe(18 * 12 + 300)
    expect((await net.post('/verify', unknownPayment)).status).toBe(200)
  }, 120_000)
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
    ['forty strangers, a few times each', 40, 6, {}],
    ['four strangers at a seller with a token', 4, 62, asShop],
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

  it('what the caller itself wrote before the proxy added its address does not count', async () => {
    let made = 0
    const ask = () =>
      net.post('/challenge', { amount: '1' }, { 'x-forwarded-for': `10.0.0.${++made}, 203.0.113.9` })
    expect(await statuses(5, ask)).toEqual([200, 200, 200, 200, 429])
  })
})
