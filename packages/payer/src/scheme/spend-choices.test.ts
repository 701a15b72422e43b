import { describe, expect, it } from 'vitest'
import { address } from '../../test/offers.js'
import { readSpendChoices } from './spend-choices.js'

describe('the choices of the environment', () => {
  it('are taken as they are, without a warning', () => {
    const set = { SVC_MAX_PER_PAYMENT: '5000', SVC_ALLOWED_TOKEN: address(1) }
    expect(readSpendChoices(set)).toEqual({
      choices: { maxAmountPerPayment: '5000', allowedTokens: [address(1)] },
      warnings: [],
    })
  })

  it('allow everything when unset, and warn of each', () => {
    const { choices, warnings } = readSpendChoices({})
    expect(choices).toEqual({ maxAmountPerPayment: 'unlimited', allowedTokens: 'any' })
    expect(warnings).toEqual([
      expect.stringContaining('SVC_MAX_PER_PAYMENT'),
      expect.stringContaining('SVC_ALLOWED_TOKEN'),
    ])
  })

  it.each([
    ['SVC_MAX_PER_PAYMENT', '1e6'],
    ['SVC_MAX_PER_PAYMENT', ''],
    ['SVC_MAX_PER_PAYMENT', 'unlimited'],
    ['SVC_ALLOWED_TOKEN', 'USDC'],
  ])('are refused by name when %s is "%s"', (name, value) => {
    const read = () => readSpendChoices({ [name]: value })
    expect(read).toThrow(expect.objectContaining({ code: 'payer_misconfigured' }))
    expect(read).toThrow(name)
  })
})
