import { isPaymentRequirementsV2 } from '@x402/core/schemas'
import { x402ResourceServer } from '@x402/core/server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mutate, mutation, offer, smallJson } from '../test/arbitrary.js'
import type { ChallengeOffer } from './facilitator-api.js'
import { isObject, type JsonObject } from './json.js'
import * as Offer from './offer.js'

const address = `0x${'ab'.repeat(20)}`
const nonce = `0x${'cd'.repeat(32)}`

const wellFormed = {
  scheme: 'svc-zerc20',
  network: 'eip155:31337',
  asset: address,
  amount: '10000',
  payTo: address,
  maxTimeoutSeconds: 300,
  extra: { challengeNonce: nonce, expiresAt: 1_800_000_300, helper: address, deadline: 1_800_000_600 },
} as const

const official = new x402ResourceServer()

function officialMatches(echoed: unknown, own: JsonObject): boolean {
  const payment = { x402Version: 2, accepted: echoed, payload: {} }
  return official.findMatchingRequirements([own as never], payment as never) !== undefined
}

describe('form of an offer', () => {
  it('R-010 accepts every well-formed offer', () => {
    fc.assert(fc.property(offer, (raw) => Offer.parse(raw).ok))
  })

  it('R-021 R-171 hands back the very same object, unknown fields untouched', () => {
    fc.assert(
      fc.property(offer, (raw) => {
        const before = JSON.stringify(raw)
        const parsed = Offer.parse(raw)
        expect(parsed.ok && parsed.value).toBe(raw)
        expect(JSON.stringify(raw)).toBe(before)
      }),
    )
  })

  it('R-002 is a PaymentRequirements of unmodified x402 v2 for the official schema', () => {
    fc.assert(
      fc.property(offer, (raw) => {
        expect(
          isPaymentRequirementsV2({ ...raw, maxTimeoutSeconds: Math.max(1, Number(raw.maxTimeoutSeconds)) }),
        ).toBe(true)
      }),
    )
  })

  it.each(['scheme', 'network', 'asset', 'amount', 'payTo', 'maxTimeoutSeconds', 'extra'])(
    'R-010 refuses an offer without %s',
    (key) => {
      const { [key as 'scheme']: _, ...rest } = wellFormed
      expect(Offer.parse(rest)).toMatchObject({ ok: false, reason: 'malformed_request' })
      expect(Offer.parse({ ...rest, [key]: null })).toMatchObject({ ok: false, reason: 'malformed_request' })
    },
  )

  it.each([
    ['offer.scheme', { scheme: 'exact' }],
    ['offer.network', { network: 'eip155:031337' }],
    ['offer.network', { network: 31337 }],
    ['offer.asset', { asset: address.slice(2) }],
    ['offer.amount', { amount: 10_000 }],
    ['offer.amount', { amount: '0' }],
    ['offer.amount', { amount: '1e4' }],
    ['offer.amount', { amount: `${2n ** 248n}` }],
    ['offer.payTo', { payTo: `${address}00` }],
    ['offer.maxTimeoutSeconds', { maxTimeoutSeconds: '300' }],
    ['offer.maxTimeoutSeconds', { maxTimeoutSeconds: -1 }],
    ['offer.extra', { extra: [] }],
    ['offer.extra.challengeNonce', { extra: { ...wellFormed.extra, challengeNonce: '0x00' } }],
    ['offer.extra.expiresAt', { extra: { ...wellFormed.extra, expiresAt: '1800000300' } }],
    ['offer.extra.expiresAt', { extra: { ...wellFormed.extra, expiresAt: 1.5 } }],
    ['offer.extra.helper', { extra: { ...wellFormed.extra, helper: 'vitalik.eth' } }],
    ['offer.extra.deadline', { extra: { ...wellFormed.extra, deadline: -1 } }],
    ['offer.extra.fee.amount', { extra: { ...wellFormed.extra, fee: { amount: '0x1', bps: 1 } } }],
    ['offer.extra.fee.bps', { extra: { ...wellFormed.extra, fee: { amount: '1', bps: 0.5 } } }],
  ])('R-010 says %s when it is the malformed field', (path, change) => {
    const parsed = Offer.parse({ ...wellFormed, ...change })
    expect(parsed).toMatchObject({ ok: false, reason: 'malformed_request' })
    expect(parsed.ok ? '' : parsed.message.split(':')[0]).toBe(path)
  })

  it('refuses anything else without throwing', () => {
    fc.assert(fc.property(fc.oneof(smallJson, fc.anything()), (raw) => !Offer.parse(raw).ok))
    expect(Offer.parse(null)).toMatchObject({ message: expect.stringMatching(/^offer: /) })
  })

  it('is not fooled by fields that hang on a __proto__ key', () => {
    expect(Offer.parse(JSON.parse(`{"__proto__":${JSON.stringify(wellFormed)}}`)).ok).toBe(false)
    expect(Offer.parse({ ...wellFormed, ...JSON.parse('{"constructor":1,"prototype":2}') }).ok).toBe(true)
  })
})

describe('the offer made of a challenge', () => {
  const challenge: ChallengeOffer = {
    payTo: address,
    amount: '10100',
    token: `0x${'ef'.repeat(20)}`,
    chainId: 31337,
    challengeNonce: nonce,
    expiresAt: 1_800_000_300,
  }

  it('R-010 R-013 carries the fields of the challenge and the seconds until it expires', () => {
    expect(Offer.fromChallenge(challenge, 1_800_000_000.9)).toEqual({
      scheme: 'svc-zerc20',
      network: 'eip155:31337',
      asset: challenge.token,
      amount: '10100',
      payTo: address,
      maxTimeoutSeconds: 300,
      extra: { challengeNonce: nonce, expiresAt: 1_800_000_300 },
    })
  })

  it('R-013 never offers less than one second, which the official schema demands', () => {
    const late = Offer.fromChallenge(challenge, 1_800_000_300)
    expect(late.maxTimeoutSeconds).toBe(1)
    expect(isPaymentRequirementsV2(late)).toBe(true)
  })

  it('R-016 has helper and deadline exactly when the challenge has them', () => {
    const without = Offer.fromChallenge(challenge, 1_800_000_000)
    expect(Object.keys(without.extra)).toEqual(['challengeNonce', 'expiresAt'])
    const gasless = { ...challenge, helper: address, deadline: 1_800_000_600 }
    expect(Offer.fromChallenge(gasless, 1_800_000_000).extra).toEqual({
      challengeNonce: nonce,
      expiresAt: 1_800_000_300,
      helper: address,
      deadline: 1_800_000_600,
    })
  })

  it('carries a fee exactly when the challenge has one', () => {
    const fee = { amount: '100', bps: 100 }
    expect(Offer.fromChallenge({ ...challenge, fee }, 0).extra).toMatchObject({ fee })
  })

  it('does not carry what the token says of itself', () => {
    const tokenLabel = { symbol: 'zUSD', decimals: 6 }
    expect(Offer.fromChallenge({ ...challenge, tokenLabel }, 0)).toEqual(Offer.fromChallenge(challenge, 0))
  })

  it('R-002 adds nothing to the envelope and is itself well-formed', () => {
    const made = Offer.fromChallenge({ ...challenge, helper: address, deadline: 1 }, 1_800_000_000)
    expect(Object.keys(made).sort()).toEqual([
      'amount',
      'asset',
      'extra',
      'maxTimeoutSeconds',
      'network',
      'payTo',
      'scheme',
    ])
    expect(Offer.parse(made).ok).toBe(true)
  })
})

// Both comparisons on a thousand offers take seconds on a busy machine.
describe('the matching rule', () => {
  it('R-022 agrees with the official middleware on any offer and any echo of it', () => {
    let matched = 0
    let refused = 0
    fc.assert(
      fc.property(offer, fc.array(mutation, { maxLength: 3 }), (own, mutations) => {
        const echoed = mutations.reduce(mutate, own)
        const verdict = Offer.matches(echoed, own)
        expect(verdict).toBe(officialMatches(echoed, own))
        verdict ? matched++ : refused++
      }),
      { numRuns: 1_000 },
    )
    // Both outcomes must occur often, or the comparison would prove nothing.
    expect(Math.min(matched, refused)).toBeGreaterThan(100)
  })

  it('R-022 agrees with the official middleware on offers that share nothing', () => {
    fc.assert(
      fc.property(offer, fc.oneof(offer, smallJson), (own, echoed) => {
        if (JSON.stringify(echoed).includes('__proto__')) return
        expect(Offer.matches(echoed, own)).toBe(officialMatches(echoed, own))
      }),
    )
  })

  it('R-022 takes a field the seller left undefined for one he did not set', () => {
    const own = { ...wellFormed, description: undefined, extra: { ...wellFormed.extra, seal: undefined } }
    expect(Offer.matches(wellFormed, own)).toBe(true)
    expect(officialMatches(wellFormed, own)).toBe(true)
    const added = { ...wellFormed, extra: { ...wellFormed.extra, seal: 'x' } }
    expect(Offer.matches(added, own)).toBe(officialMatches(added, own))
  })

  it('R-021 R-022 matches an echo that went through JSON, whatever its key order', () => {
    fc.assert(
      fc.property(offer, (own) => {
        const reversed = Object.fromEntries(Object.entries(own).reverse())
        expect(Offer.matches(JSON.parse(JSON.stringify(reversed)), own)).toBe(true)
      }),
    )
  })

  it('R-023 refuses when any own field, of extra too, was dropped or rewritten', () => {
    fc.assert(
      fc.property(offer, fc.nat(), fc.boolean(), fc.boolean(), (own, pick, inExtra, drop) => {
        const extra = isObject(own.extra) ? own.extra : {}
        const changed = change(inExtra ? extra : own, pick, drop)
        expect(Offer.matches(inExtra ? { ...own, extra: changed } : changed, own)).toBe(false)
      }),
    )
  })

  it('R-014 R-023 counts resource, description, mimeType and outputSchema when the seller set them', () => {
    const standard = { resource: 'https://shop/x', description: 'x', mimeType: 'a/b', outputSchema: { a: 1 } }
    const own = { ...wellFormed, ...standard }
    expect(Offer.parse(own).ok).toBe(true)
    expect(Offer.matches(own, own)).toBe(true)
    for (const key of Object.keys(standard))
      expect(Offer.matches({ ...own, [key]: 'other' }, own)).toBe(false)
    expect(Offer.matches(wellFormed, own)).toBe(false)
  })

  it('R-022 refuses an added core field and lets one be added to extra', () => {
    fc.assert(
      fc.property(offer, fc.jsonValue(), (own, value) => {
        const extra = isObject(own.extra) ? own.extra : {}
        expect(Offer.matches({ ...own, added: value }, own)).toBe(false)
        expect(Offer.matches({ ...own, extra: { ...extra, added: value } }, own)).toBe(true)
      }),
    )
  })

  it('R-023 does not lose a __proto__ key from sight, which the official comparison does', () => {
    const own = { ...wellFormed, outputSchema: JSON.parse('{"__proto__":{"price":1}}') }
    const echoed = { ...wellFormed, outputSchema: JSON.parse('{"__proto__":{"price":2}}') }
    expect(Offer.matches(own, own)).toBe(true)
    expect(Offer.matches(echoed, own)).toBe(false)
    expect(officialMatches(echoed, own)).toBe(true)
  })

  it('R-023 refuses what is no object at all', () => {
    for (const echoed of [null, undefined, 'x', 1, [], [wellFormed]]) {
      expect(Offer.matches(echoed, wellFormed)).toBe(false)
    }
  })
})

/** A copy in which one field is missing or has another value. */
function change(object: JsonObject, pick: number, drop: boolean): JsonObject {
  const keys = Object.keys(object)
  const key = keys[pick % keys.length] ?? ''
  const { [key]: value, ...rest } = object
  return drop ? rest : { ...rest, [key]: [value] }
}
