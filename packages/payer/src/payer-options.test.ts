import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { address } from '../test/offers.js'
import { type PayerOptions, readOptions } from './payer-options.js'

const options: PayerOptions = {
  account: privateKeyToAccount(generatePrivateKey()),
  rpcUrl: 'http://127.0.0.1:1',
  network: 'eip155:31337',
}

describe('the options of the payer', () => {
  it('default to permit mode without pins', () => {
    const { mode, fallback, chainId, pins } = readOptions(options)
    expect({ mode, fallback, chainId }).toEqual({ mode: 'permit', fallback: undefined, chainId: 31_337 })
    expect(pins).toEqual({ network: 'eip155:31337' })
  })

  it('take addresses in any case', () => {
    const allowedTokens = [address(0xabc).toUpperCase().replace('0X', '0x')]
    expect(readOptions({ ...options, allowedTokens }).pins.allowedTokens).toEqual([address(0xabc)])
  })

  it.each<[string, Partial<PayerOptions>]>([
    ['a network that is no CAIP-2 name', { network: 'base' as 'eip155:1' }],
    ['a token that is no address', { allowedTokens: ['USDC'] }],
    ['a helper that is no address', { allowedHelpers: ['0x'] }],
    ['a cap that is no plain integer', { maxAmountPerPayment: '1e6' }],
    ['a cap that is negative', { maxAmountPerPayment: '-1' }],
  ])('reject %s by name', (_, wrong) => {
    expect(() => readOptions({ ...options, ...wrong })).toThrow(
      expect.objectContaining({ code: 'payer_misconfigured' }),
    )
  })
})
