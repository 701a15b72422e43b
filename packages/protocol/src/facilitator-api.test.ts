import { isPaymentPayloadV2 } from '@x402/core/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, offer } from '../test/arbitrary.js'
import { parseChallenge, parsePaymentRequest, parseSettleRequest } from './facilitator-api.js'

const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`

const requirements = {
  scheme: 'svc-zerc20',
  network: 'eip155:31337',
  asset: hex(20),
  amount: '10000',
  payTo: hex(20),
  maxTimeoutSeconds: 300,
  extra: { challengeNonce: hex(32), expiresAt: 1_800_000_300 },
}
const permit = { value: '10000', nonce: '0', deadline: '1800000600', v: 27, r: hex(32), s: hex(32) }
const shapeA = { challengeNonce: hex(32), payer: hex(20), permit, burnAuthSig: hex(65) }
const shapeB = { challengeNonce: hex(32), burnTxHash: hex(32) }

const requestOf = (payload: unknown) => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, accepted: requirements, payload },
  paymentRequirements: requirements,
})

const endpoints = [
  ['/verify', parsePaymentRequest],
  ['/settle', parseSettleRequest],
] as const

describe.each(endpoints)('body of %s', (_, parse) => {
  it.each([
    ['permit', shapeA],
    ['self-transfer', shapeB],
  ])(
    'R-020 R-121 R-122 is read with a %s payload, and the untrusted requirements stay as sent',
    (kind, payload) => {
      fc.assert(
        fc.property(offer, (paymentRequirements) => {
          const parsed = parse({ ...requestOf(payload), paymentRequirements })
          expect(parsed).toMatchObject({ ok: true, value: { payload: { kind } } })
          expect(parsed.ok && parsed.value.requirements).toBe(paymentRequirements)
        }),
      )
    },
  )

  it('R-002 R-020 takes what the official schema takes for a PaymentPayload, with and without resource', () => {
    const { paymentPayload } = requestOf(shapeB)
    const withResource = { ...paymentPayload, resource: { url: 'https://shop.example/report' } }
    expect(isPaymentPayloadV2(paymentPayload)).toBe(true)
    expect(isPaymentPayloadV2(withResource)).toBe(true)
    expect(parse(requestOf(shapeB)).ok).toBe(true)
    expect(parse({ ...requestOf(shapeB), paymentPayload: withResource })).toEqual(parse(requestOf(shapeB)))
  })

  it('R-171 ignores unknown keys of the body and of the payment', () => {
    fc.assert(
      fc.property(json, (value) => {
        const request = requestOf(shapeA)
        const paymentPayload = {
          ...request.paymentPayload,
          extensions: value,
          resource: value,
          unknown: value,
        }
        expect(parse({ ...request, paymentPayload, unknown: value })).toEqual(parse(request))
      }),
    )
  })

  it.each([0, 1, 3, '2', 2.5, null, undefined, [2]])(
    'R-004 R-170 refuses x402Version %j on either side',
    (version) => {
      const request = requestOf(shapeB)
      const paymentPayload = { ...request.paymentPayload, x402Version: version }
      expect(parse({ ...request, x402Version: version })).toMatchObject({ reason: 'invalid_x402_version' })
      expect(parse({ ...request, paymentPayload })).toMatchObject({ reason: 'invalid_x402_version' })
    },
  )

  it('R-004 refuses a whole x402 v1 request by its version', () => {
    const v1 = {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base', payload: {} },
      paymentRequirements: {
        scheme: 'exact',
        network: 'base',
        maxAmountRequired: '1',
        resource: 'https://x',
      },
    }
    expect(parse(v1)).toMatchObject({ ok: false, reason: 'invalid_x402_version' })
  })

  it.each([
    ['exact', 'unsupported_scheme'],
    ['svc-zerc20 ', 'unsupported_scheme'],
    ['SVC-ZERC20', 'unsupported_scheme'],
    [undefined, 'unsupported_scheme'],
  ])('R-001 refuses scheme %j', (scheme, reason) => {
    const paymentRequirements = { ...requirements, scheme }
    expect(parse({ ...requestOf(shapeB), paymentRequirements })).toMatchObject({ reason })
  })

  it.each([
    ['no object', null],
    ['a list', []],
    ['text', 'x'],
    ['nothing in it', {}],
    ['no paymentPayload', { x402Version: 2, paymentRequirements: requirements }],
    ['a paymentPayload still in base64', { ...requestOf(shapeB), paymentPayload: 'e30=' }],
    ['a paymentPayload that is null', { ...requestOf(shapeB), paymentPayload: null }],
    ['no paymentRequirements', { ...requestOf(shapeB), paymentRequirements: undefined }],
    ['a list of paymentRequirements', { ...requestOf(shapeB), paymentRequirements: [requirements] }],
  ])('R-121 R-122 is malformed with %s', (_, body) => {
    expect(parse(body)).toMatchObject({ ok: false, reason: 'malformed_request' })
  })

  it.each([null, undefined, 'x', []])('R-020 has a malformed payment when accepted is %j', (accepted) => {
    const request = requestOf(shapeB)
    const paymentPayload = { ...request.paymentPayload, accepted }
    expect(parse({ ...request, paymentPayload })).toMatchObject({ reason: 'malformed_payload' })
  })

  it('R-150 has a malformed payment when the permit is partial', () => {
    const { payer: _, ...partial } = { ...shapeA, ...shapeB }
    expect(parse(requestOf(partial))).toMatchObject({ ok: false, reason: 'malformed_payload' })
  })

  it('tells the first reason of the table when several apply', () => {
    const request = { ...requestOf({}), x402Version: 1, paymentRequirements: { scheme: 'exact' } }
    expect(parse({ ...request, paymentPayload: 1 })).toMatchObject({ reason: 'malformed_request' })
    expect(parse(request)).toMatchObject({ reason: 'invalid_x402_version' })
    expect(parse({ ...request, x402Version: 2 })).toMatchObject({ reason: 'unsupported_scheme' })
  })

  it('refuses any other JSON without throwing', () => {
    fc.assert(fc.property(fc.oneof(json, fc.anything()), (body) => !parse(body).ok))
  })
})

describe('legacy bodies', () => {
  it('R-126 R-172 { challengeNonce, burnTxHash } is read like the official shape, without requirements', () => {
    const legacy = parseSettleRequest(shapeB)
    const official = parseSettleRequest(requestOf(shapeB))
    expect(legacy).toEqual({ ok: true, value: { payload: official.ok && official.value.payload } })
  })

  it('R-127 R-172 { challengeNonce, payer, permit, burnAuthSig } likewise', () => {
    const legacy = parseSettleRequest(shapeA)
    const official = parseSettleRequest(requestOf(shapeA))
    expect(legacy).toEqual({ ok: true, value: { payload: official.ok && official.value.payload } })
  })

  it('R-150 R-172 a partial triple is malformed here too', () => {
    expect(parseSettleRequest({ ...shapeB, payer: hex(20) })).toMatchObject({ reason: 'malformed_payload' })
    expect(parseSettleRequest({ challengeNonce: hex(32) })).toMatchObject({ reason: 'malformed_payload' })
    expect(parseSettleRequest({ ...shapeB, challengeNonce: null })).toMatchObject({
      reason: 'malformed_payload',
    })
  })

  it('R-172 /verify knows no legacy body', () => {
    expect(parsePaymentRequest(shapeB)).toMatchObject({ reason: 'malformed_request' })
    expect(parsePaymentRequest(shapeA)).toMatchObject({ reason: 'malformed_request' })
  })

  it('R-172 a body with a paymentPayload is never read as a legacy one', () => {
    const mixed = { ...shapeB, ...requestOf(shapeA) }
    expect(parseSettleRequest(mixed)).toMatchObject({ value: { payload: { kind: 'permit' }, requirements } })
    expect(parseSettleRequest({ ...shapeB, paymentPayload: null })).toMatchObject({
      reason: 'malformed_request',
    })
  })
})

describe('answer of /challenge', () => {
  const challenge = {
    payTo: hex(20),
    amount: '10100',
    token: hex(20),
    chainId: 31337,
    challengeNonce: hex(32),
    expiresAt: 1_800_000_300,
  }

  it('R-040 R-171 needs the six fields, takes the optional ones and keeps unknown ones', () => {
    const optional = {
      helper: hex(20),
      deadline: 1_800_000_600,
      fee: { amount: '100', bps: 100 },
      tokenLabel: { symbol: 'zUSD', decimals: 6 },
    }
    expect(parseChallenge(challenge)).toMatchObject({ ok: true, value: challenge })
    const all = { ...challenge, ...optional, unknown: [1] }
    expect(parseChallenge(all)).toMatchObject({ ok: true, value: all })
    for (const key of Object.keys(challenge)) {
      expect(parseChallenge({ ...challenge, [key]: undefined }).ok).toBe(false)
    }
  })

  it.each([
    { payTo: 'later' },
    { amount: '0' },
    { amount: `${2n ** 248n}` },
    { token: hex(32) },
    { chainId: '31337' },
    { chainId: 0 },
    { chainId: 1.5 },
    { challengeNonce: hex(31) },
    { expiresAt: -1 },
    { helper: '' },
    { deadline: '1' },
    { fee: { amount: '1' } },
    { tokenLabel: { symbol: 'zUSD' } },
    { tokenLabel: { symbol: 6, decimals: 6 } },
    { tokenLabel: { symbol: 'zUSD', decimals: 78 } },
  ])('R-040 is no challenge with %j', (change) => {
    expect(parseChallenge({ ...challenge, ...change }).ok).toBe(false)
  })
})
