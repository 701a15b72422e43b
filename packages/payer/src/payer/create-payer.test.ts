import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { address, offerAt } from '../../test/offers.js'
import { readOffer } from '../offer.js'
import { createPayer, createPayerScheme, type PayerOptions } from './create-payer.js'
import type { PayOptions } from './pay.js'

const readOptions = (given: PayerOptions) =>
  createPayer({ ...given, allowedHosts: 'any', maxTotal: 'unlimited', state: 'memory' })

const options: PayerOptions = {
  account: privateKeyToAccount(generatePrivateKey()),
  rpcUrl: 'http://127.0.0.1:1',
  network: 'eip155:31337',
  allowedTokens: 'any',
  maxAmountPerPayment: 'unlimited',
}

describe('the options of the payer', () => {
  it('default to permit mode, and know the words for no pins', () => {
    const { scheme, policy } = readOptions(options)
    expect(scheme.wayOf(readOffer(2, offerAt(1_700_000_000)))).toBe('permit')
    expect(policy).toEqual({
      network: 'eip155:31337',
      allowedTokens: undefined,
      allowedHosts: 'any',
      allowedHelpers: undefined,
      maxAmountPerPayment: undefined,
      maxTotal: undefined,
      maxPerHost: undefined,
      maxPerDay: undefined,
      approveAbove: undefined,
      priceRisePercent: undefined,
      maxGasWei: 10_000_000_000_000_000n,
      approvalTimeoutMs: 120_000,
    })
  })

  it('take addresses in any case', () => {
    const allowedTokens = [address(0xabc).toUpperCase().replace('0X', '0x')]
    expect(readOptions({ ...options, allowedTokens }).policy.allowedTokens).toEqual([address(0xabc)])
  })

  it.each<[string, Partial<PayerOptions>]>([
    ['a network that is no CAIP-2 name', { network: 'base' as 'eip155:1' }],
    ['a token that is no address', { allowedTokens: ['USDC'] }],
    ['a helper that is no address', { allowedHelpers: ['0x'] }],
    ['a cap that is no plain integer', { maxAmountPerPayment: '1e6' }],
    ['a cap that is negative', { maxAmountPerPayment: '-1' }],
    ['a cap that is another word', { maxAmountPerPayment: 'any' }],
    ['a cap in a number', { maxAmountPerPayment: 1000 as unknown as string }],
    ['an empty list of tokens', { allowedTokens: [] }],
    ['tokens that are one string', { allowedTokens: address(1) as unknown as 'any' }],
    ['a mode nobody knows', { mode: 'gasless' as 'permit' }],
    ['a fallback nobody knows', { fallback: 'permit' as 'self-transfer' }],
  ])('reject %s by name', (_, wrong) => {
    expect(() => readOptions({ ...options, ...wrong })).toThrow(
      expect.objectContaining({ code: 'payer_misconfigured' }),
    )
  })

  it.each<[string, object, string]>([
    ['maxPerday', { maxPerday: '5' }, 'did you mean maxPerDay?'],
    ['allowHelpers', { allowHelpers: [] }, 'did you mean allowedHelpers?'],
    ['limits.answerMsMin', { limits: { answerMsMin: 5 } }, 'did you mean limits.answerMsMax?'],
    ['timeoutMs', { timeoutMs: Number.NaN }, 'expected a number'],
    ['answerMsMax', { limits: { answerMsMax: Number.NaN } }, 'expected a number'],
    ['resendsMax', { limits: { resendsMax: '5' } }, 'expected a number'],
  ])('refuse %s, which would silently be no limit', (name, wrong, told) => {
    const read = () => readOptions({ ...options, ...wrong })
    expect(read).toThrow(expect.objectContaining({ code: 'payer_misconfigured' }))
    expect(read).toThrow(name)
    expect(read).toThrow(told)
  })

  it.each(['maxTotal', 'allowedHosts', 'state'])(
    'of a bare scheme refuse %s, which it does not keep',
    (name) => {
      const given = { ...options, [name]: 'any' }
      expect(() => createPayerScheme(given)).toThrow(
        expect.objectContaining({ code: 'payer_misconfigured', message: expect.stringContaining(name) }),
      )
    },
  )

  it('of one payment refuse a misspelled cap', async () => {
    const bounds = { maxx: 1n } as PayOptions
    await expect(readOptions(options).pay('http://127.0.0.1:1/', {}, bounds)).rejects.toThrow(
      'options.maxx: there is no such option; did you mean options.max?',
    )
  })

  it.each(['maxAmountPerPayment', 'allowedTokens'] as const)(
    'want %s said, and tell what to write',
    (name) => {
      const { [name]: _, ...silent } = options
      const read = () => readOptions(silent as PayerOptions)
      expect(read).toThrow(expect.objectContaining({ code: 'payer_misconfigured' }))
      expect(read).toThrow(new RegExp(`${name} is missing: write .*'(any|unlimited)'`))
    },
  )
})
