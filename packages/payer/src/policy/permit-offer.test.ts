import { type Address, type BaseUnits, parseAddress } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { address, type OfferChanges, offerAt } from '../../test/offers.js'
import { checkFresh, readOffer } from '../offer.js'
import { assertPasses } from '../verdict.js'
import { checkPermitOffer, judgeOffer } from './offer-rules.js'
import type { Policy } from './policy.js'

type OfferPins = Pick<Policy, 'network' | 'allowedTokens' | 'maxAmountPerPayment'>

const now = 1_700_000_000
const open: OfferPins = {
  network: 'eip155:31337',
  allowedTokens: undefined,
  maxAmountPerPayment: undefined,
}
const brand = (n: number) => parseAddress(address(n)) as Address

const check = (changes: OfferChanges = {}, pins: Partial<OfferPins> = {}, at = now) => {
  const offer = readOffer(2, offerAt(now, changes))
  assertPasses(judgeOffer(offer, { ...open, ...pins }, at, 2_592_000))
  return checkPermitOffer(offer, at, 3_600)
}

describe('an offer that may be paid', () => {
  it('is read into its facts', () => {
    expect(check()).toMatchObject({ chainId: 31_337, amount: 1000n, helper: address(3), deadline: now + 300 })
  })

  it('may carry fields nobody knows', () => {
    expect(check({ extra: { seal: 'x', later: { more: [1] } } }).amount).toBe(1000n)
  })

  it('R-017 may carry a fee that is part of its amount', () => {
    expect(check({ extra: { fee: { amount: '999', bps: 10_000 } } }).amount).toBe(1000n)
  })

  it('passes pins that name its token and its amount', () => {
    const pins = { allowedTokens: [brand(1)], maxAmountPerPayment: 1000n as BaseUnits }
    expect(check({}, pins).token).toBe(address(1))
  })
})

describe('an offer is refused before anything is signed', () => {
  const zero = address(0).replace(/a0000$/, '00000')
  const cases: [string, string, OfferChanges, Partial<OfferPins>?][] = [
    ['another scheme', 'offer_malformed', { scheme: 'exact' } as unknown as OfferChanges],
    ['another network', 'offer_network', { network: 'eip155:1' }],
    ['a network that is not CAIP-2', 'offer_malformed', { network: 'base' }],
    ['an amount in hex', 'offer_malformed', { amount: '0x10' }],
    ['an amount with an exponent', 'offer_malformed', { amount: '1e3' }],
    ['an amount of zero', 'offer_malformed', { amount: '0' }],
    ['an amount above 2^248', 'offer_malformed', { amount: (2n ** 248n).toString() }],
    ['an asset that is no address', 'offer_malformed', { asset: '0x12' }],
    ['a zero asset', 'offer_malformed', { asset: zero }],
    ['a zero payTo', 'offer_malformed', { payTo: zero }],
    ['a zero helper', 'offer_malformed', { extra: { helper: zero } }],
    ['a helper that is no address', 'offer_malformed', { extra: { helper: 'me' } }],
    ['a short challenge nonce', 'offer_malformed', { extra: { challengeNonce: '0x01' } }],
    ['a fee above the amount', 'offer_malformed', { extra: { fee: { amount: '1001', bps: 1 } } }],
    ['a fee that is the whole amount', 'offer_malformed', { extra: { fee: { amount: '1000', bps: 1 } } }],
    ['a fee below zero', 'offer_malformed', { extra: { fee: { amount: '-1', bps: 1 } } }],
    ['no expiry', 'offer_malformed', { extra: { expiresAt: undefined } }],
    ['no helper', 'permit_not_offered', { extra: { helper: undefined } }],
    ['no deadline', 'offer_deadline', { extra: { deadline: undefined } }],
    ['a deadline that has passed', 'offer_deadline', { extra: { deadline: now } }],
    ['a deadline a day away', 'offer_deadline', { extra: { deadline: now + 86_400 } }],
    ['an expiry in another century', 'offer_deadline', { extra: { expiresAt: now + 3_000_000_000 } }],
    ['a token that is not allowed', 'offer_token', {}, { allowedTokens: [brand(9)] }],
    ['an amount above the cap', 'offer_amount', {}, { maxAmountPerPayment: 999n as BaseUnits }],
  ]
  it.each(cases)('%s', (_, code, changes, pins) => {
    expect(() => check(changes, pins)).toThrow(expect.objectContaining({ name: 'PayerError', code }))
  })

  it('R-170 of another x402 version', () => {
    expect(() => readOffer(1, offerAt(now))).toThrow(/offer_malformed: x402Version is 1/)
  })

  it('R-018 when it has expired', () => {
    expect(check({}, {}, now + 299).expiresAt).toBe(now + 300)
    expect(() => check({}, {}, now + 300)).toThrow(/offer_expired.*fetch a fresh 402/)
  })

  it('when too little time is left for a transfer', () => {
    const offer = readOffer(2, offerAt(now))
    checkFresh(offer, now + 294, 5)
    expect(() => checkFresh(offer, now + 295, 5)).toThrow(/offer_expired/)
  })
})
