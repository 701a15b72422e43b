import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { baseUnits, conversionOf, inTokens } from './decimal-amount.js'

it.each([
  ['0.01', 6, '10000'],
  ['1', 6, '1000000'],
  ['0', 18, '0'],
  ['12.5', 18, '12500000000000000000'],
  ['3', 0, '3'],
])('%s of a token with %s decimals is %s', (tokens, decimals, units) => {
  expect(baseUnits(tokens, decimals)).toBe(units)
})

it('an amount survives the way there and back', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 200n }),
      fc.integer({ min: 0, max: 30 }),
      (units, decimals) => {
        const digits = units.toString().padStart(decimals + 1, '0')
        const whole = digits.slice(0, digits.length - decimals)
        const fraction = digits.slice(digits.length - decimals)
        expect(baseUnits(fraction ? `${whole}.${fraction}` : whole, decimals)).toBe(`${units}`)
      },
    ),
  )
})

it.each([
  ['0.0000001', 6, /"0.0000001" has 7 decimal places; the token has 6/],
  ['1,5', 6, /"1,5" is no amount/],
  ['', 6, /is no amount/],
  ['.5', 6, /is no amount/],
  ['1e3', 6, /is no amount/],
  ['-1', 6, /is no amount/],
  ['01', 6, /is no amount/],
  ['1', 1.5, /no number of decimals/],
  ['1', -1, /no number of decimals/],
  ['9'.repeat(80), 0, /2\^256/],
])('%s with %s decimals is refused, and nothing is rounded', (tokens, decimals, why) => {
  expect(() => baseUnits(tokens, decimals)).toThrowError(why)
})

it('a number is refused, because a float is not what was written', () => {
  expect(() => baseUnits(0.1 as unknown as string, 6)).toThrowError(/0.1 is no amount; expected a text/)
})

it('tells what an amount in tokens would be in base units', () => {
  expect(conversionOf('0.5')).toBe('0.5 of a token with 6 decimals is 500000 base units')
  expect(conversionOf(0.01)).toBe('0.01 of a token with 6 decimals is 10000 base units')
  expect(conversionOf('$2')).toBe('2 of a token with 6 decimals is 2000000 base units')
  expect(conversionOf('7'.repeat(90))).not.toContain('7')
  expect(conversionOf('cheap')).toBe('0.01 of a token with 6 decimals is 10000 base units')
})

describe('an amount in tokens', () => {
  it.each([
    [1_500_000n, 6, '1.5 zUSD'],
    [1n, 6, '0.000001 zUSD'],
    [0n, 6, '0 zUSD'],
    [12n, 0, '12 zUSD'],
  ])('%s base units with %s decimals are %s', (amount, decimals, text) => {
    expect(inTokens(amount, { symbol: 'zUSD', decimals })).toBe(text)
  })

  it('has a short and printable symbol, and none without decimals that make sense', () => {
    expect(inTokens(1n, { symbol: '\u202eevil\n', decimals: 0 })).toBe('1 ?evil?')
    expect(inTokens(1n, { symbol: 'A'.repeat(40), decimals: 0 })).toBe(`1 ${'A'.repeat(16)}`)
    expect(inTokens(1n, { symbol: 'A', decimals: 255 })).toBeUndefined()
  })
})
