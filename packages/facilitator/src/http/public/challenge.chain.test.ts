import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { startBeside } from '../../../test/beside.js'
import { temporaryFolder } from '../../../test/folder.js'
import { type Answer, startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf } from '../../../test/payment.js'
import { limits } from '../../config/limits.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

describe('POST /challenge', () => {
  it('R-123 R-040 R-010 R-016 answers with an offer: every field present and typed', async () => {
    const { status, body } = await net.post('/challenge', { amount: '1000', later: true })
    expect(status).toBe(200)
    expect(body).toEqual({
      payTo: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      amount: '1000',
      token: net.deployment.token,
      chainId: 31337,
      challengeNonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      expiresAt: expect.any(Number),
      helper: net.deployment.permitBurner,
      deadline: Number(body.expiresAt) + limits.permitOutlivesOfferSeconds,
      ticket: expect.stringMatching(/^[0-9a-f]{32}$/),
      tokenLabel: { symbol: 'zUSD', decimals: 6 },
    })
  })

  it('R-013 expires the configured lifetime from now', async () => {
    const before = Math.floor(net.clock.now() / 1000)
    const { expiresAt } = await net.challenge()
    const after = Math.floor(net.clock.now() / 1000)
    expect(expiresAt).toBeGreaterThanOrEqual(before + 300)
    expect(expiresAt).toBeLessThanOrEqual(after + 300)
  })

  it('R-012 R-015 R-110 gives each challenge a payTo and a nonce of its own', async () => {
    const offers = []
    for (let round = 0; round < 10; round++) {
      offers.push(...(await Promise.all(Array.from({ length: 10 }, () => net.challenge('1')))))
    }
    expect(new Set(offers.map(({ payTo }) => payTo.toLowerCase())).size).toBe(100)
    expect(new Set(offers.map(({ challengeNonce }) => challengeNonce)).size).toBe(100)
  })

  it.each([`${2n ** 248n - 1n}`, '1'])('R-123 takes an amount of %s', async (amount) => {
    expect((await net.challenge(amount)).amount).toBe(amount)
  })

  it.each([
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '01',
    ' 1',
    '1 ',
    '+1',
    '',
    `${2n ** 248n}`,
    '9'.repeat(500),
    1000,
    null,
    undefined,
    ['1'],
    { value: '1' },
  ])('refuses the amount %j', async (amount) => {
    const { status, body } = await net.post('/challenge', { amount })
    expect([status, body.reason]).toEqual([400, 'invalid_amount'])
    expect(body.error).toBeTypeOf('string')
  })

  it.each(['[]', '"1000"', 'null', '7'])('refuses the body %s', async (text) => {
    const { status, body } = await net.post('/challenge', text)
    expect([status, body.reason]).toEqual([400, 'malformed_request'])
  })
})

describe('GET /supported', () => {
  it('R-120 has exactly the shape the official middleware needs', async () => {
    const { status, body } = await net.send('/supported')
    expect(status).toBe(200)
    expect(body).toEqual({
      kinds: [{ x402Version: 2, scheme: 'svc-zerc20', network: 'eip155:31337' }],
      extensions: [],
      signers: {},
    })
  })
})

describe('R-110 the limits of issuance', () => {
  it('R-158 at the cap answers 503 with Retry-After, and has room again after expiry or payment', async () => {
    const small = await startNetwork({ config: { daemon: { max_open_challenges: 2 } } })
    try {
      const account = await small.account()
      const paid = await small.permitPayment(account)
      await small.challenge()
      const { status, headers, body } = await small.post('/challenge', { amount: '1' })
      expect([status, body.reason]).toEqual([503, 'challenge_limit'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)

      expect((await small.settle(paid.body)).body.success).toBe(true)
      await small.challenge()
      expect((await small.post('/challenge', { amount: '1' })).status).toBe(503)
      small.clock.advance(301_000)
      await small.challenge()
    } finally {
      await small.close()
    }
  })

  it('a challenge that expired makes room also when the TTL was lowered since an older one was issued', async () => {
    const clock = movableClock()
    clock.stand()
    const journal = join(temporaryFolder(), 'journal')
    const env = { SVC_TREASURY_PK: generatePrivateKey(), SVC_RELAYER_PK: generatePrivateKey() }
    const start = (ttlSeconds: number) =>
      startBeside(net, {
        profile: 'local',
        journal,
        env,
        settlement: { challenge_ttl_seconds: ttlSeconds },
        daemon: { max_open_challenges: 3 },
        clock,
      })
    // Asked again while no address is mined: on a busy machine that takes longer than a caller waits.
    const issue = ({ url }: { url: string }) =>
      until(async () => {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(`${url}/challenge`, { method: 'POST', headers, body: '{"amount":"1"}' })
        const { reason } = (await answer.json()) as { reason?: string }
        return reason !== 'address_pool_empty' && answer.status
      })
    const patient = await start(3_600)
    expect(await issue(patient)).toBe(200)
    await patient.close()
    const hasty = await start(5)
    try {
      expect([await issue(hasty), await issue(hasty), await issue(hasty)]).toEqual([200, 200, 503])
      clock.advance(6_000)
      expect([await issue(hasty), await issue(hasty), await issue(hasty)]).toEqual([200, 200, 503])
    } finally {
      await hasty.close()
    }
  })

  it('concurrent requests never pass the cap together', async () => {
    const small = await startNetwork({ config: { daemon: { max_open_challenges: 5 } } })
    try {
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => small.post('/challenge', { amount: '1' })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
      expect(answers.filter(({ status }) => status === 503)).toHaveLength(35)
    } finally {
      await small.close()
    }
  })

  it('without a ready address answers 503 with Retry-After after a bounded wait', async () => {
    const slow = await startNetwork({
      waitsForAddress: false,
      config: { zerc20: { pow_bits: 32, pool_size: 1 } },
    })
    try {
      const { status, headers, body } = await slow.post('/challenge', { amount: '1' })
      expect([status, body.reason]).toEqual([503, 'address_pool_empty'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    } finally {
      await slow.close()
    }
  })
})

describe('R-008 the recipient', () => {
  it('appears in no body and no header a payer can get, whatever is asked', async () => {
    const answers: Answer[] = []
    const keep = async (asking: Promise<Answer | Answer<unknown>>) => {
      answers.push((await asking) as Answer)
    }
    const payer = await net.account({ gas: true })
    const good = await net.permitPayment(payer)
    const { provider, treasury } = developmentRoles
    await keep(net.send('/supported'))
    await keep(net.post('/challenge', { amount: '5' }))
    await keep(net.post('/challenge', { amount: 'x' }))
    await keep(net.post('/challenge', '{'))
    await keep(net.verify(good.body))
    await keep(net.settle(good.body))
    await keep(net.settle(good.body))
    await keep(net.status(good.offer.challengeNonce))
    await keep(net.status('0x'))
    await keep(net.send('/nothing'))
    await keep(net.send('/verify'))
    const { offer } = await net.permitPayment(payer)
    for (const body of [
      bodyOf(offer, { ...good.payload, challengeNonce: offer.challengeNonce }),
      bodyOf(offer, good.payload, { payTo: offer.token }),
      bodyOf(offer, { challengeNonce: offer.challengeNonce }),
      bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash: `0x${'ab'.repeat(32)}` }),
      good.payload,
      {},
    ]) {
      await keep(net.verify(body))
      await keep(net.settle(body))
    }
    net.chain.setFaults([{ method: '*', kind: 'httpStatus', status: 500 }])
    await keep(net.verify(bodyOf(offer, await net.permitFor(offer, payer, { nonce: 1n }))))
    net.chain.setFaults([])
    net.clock.advance(301_000)
    const hash = await net.transfer(payer, offer.payTo, offer.amount)
    await keep(net.settle({ challengeNonce: offer.challengeNonce, burnTxHash: hash }))
    await keep(net.status(offer.challengeNonce))

    expect(answers.length).toBeGreaterThan(20)
    for (const { address } of [provider, treasury]) {
      const secret = address.slice(2).toLowerCase()
      for (const { text, headers } of answers) {
        expect(`${text} ${JSON.stringify([...headers])}`.toLowerCase()).not.toContain(secret)
      }
    }
  })
})

describe('a profile that is not local', () => {
  it.each(['testnet', 'production', undefined] as const)(
    'R-110 R-155 R-156 R-157 R-162 %s refuses payments in the shape of each endpoint and still lists its kind',
    async (profile) => {
      const gated = await startBeside(net, {
        profile,
        env: {
          SVC_TREASURY_PK: generatePrivateKey(),
          SVC_RELAYER_PK: generatePrivateKey(),
          SVC_ADMIN_TOKEN: 'token',
        },
      })
      try {
        const post = async (path: string, body: object) => {
          const response = await fetch(`${gated.url}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          })
          return { status: response.status, body: (await response.json()) as Record<string, unknown> }
        }
        const challenge = await post('/challenge', { amount: '1' })
        expect([challenge.status, challenge.body.reason]).toEqual([403, 'acceptance_disabled'])
        expect(challenge.body.error).toBe(
          `payment acceptance is disabled for the profile "${profile ?? 'unset'}"`,
        )
        const offer = await net.challenge()
        const body = bodyOf(offer, await net.permitFor(offer, await net.account()))
        expect(await post('/verify', body)).toMatchObject({
          status: 200,
          body: { isValid: false, invalidReason: 'profile_unsupported' },
        })
        const refused = {
          success: false,
          errorReason: 'profile_unsupported',
          transaction: '',
          network: 'eip155:31337',
        }
        expect(await post('/settle', body)).toMatchObject({ status: 200, body: refused })
        const legacy = body.paymentPayload.payload
        expect(await post('/settle', legacy)).toMatchObject({ status: 200, body: refused })
        const supported = (await (await fetch(`${gated.url}/supported`)).json()) as { kinds: unknown[] }
        expect(supported.kinds).toEqual([{ x402Version: 2, scheme: 'svc-zerc20', network: 'eip155:31337' }])
      } finally {
        await gated.close()
      }
    },
  )
})
