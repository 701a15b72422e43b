import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { hexOf, uint256, unixSeconds } from '../test/arbitrary.js'
import {
  amountLimit,
  parseAddress,
  parseAmount,
  parseBaseUnits,
  parseBytes32,
  parseChallengeNonce,
  parseHex,
  parseSignature,
  parseTxHash,
  parseUnixSeconds,
  toChecksum,
} from './brand.js'

const notDecimal = [
  ['an exponent', '1e3'],
  ['hex', '0x10'],
  ['octal', '0o17'],
  ['a leading zero', '01'],
  ['two zeros', '00'],
  ['a minus', '-1'],
  ['minus zero', '-0'],
  ['a plus', '+1'],
  ['a fraction', '1.0'],
  ['a separator', '1_000'],
  ['a comma', '1,000'],
  ['a bigint suffix', '1n'],
  ['a space before', ' 1'],
  ['a newline after', '1\n'],
  ['nothing', ''],
  ['full-width digits', '１２'],
  ['Arabic digits', '١٢'],
  ['infinity', 'Infinity'],
  ['a number', 1],
  ['a bigint', 1n],
  ['null', null],
  ['undefined', undefined],
  ['a boxed string', Object('1')],
  ['an array that prints as a number', ['1']],
] as const

describe('base units', () => {
  it('reads every unsigned 256-bit integer back from its decimal text', () => {
    fc.assert(fc.property(uint256, (value) => parseBaseUnits(`${value}`) === value))
  })

  it.each(notDecimal)('refuses %s', (_, text) => {
    expect(parseBaseUnits(text)).toBeUndefined()
    expect(parseAmount(text)).toBeUndefined()
  })

  it('accepts a string exactly when it is how its own number is written', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789-+.ex '), maxLength: 80 }), (text) => {
        const value = /^\d+$/.test(text) ? BigInt(text) : undefined
        const canonical = value !== undefined && `${value}` === text && value < 2n ** 256n
        expect(parseBaseUnits(text)).toBe(canonical ? value : undefined)
      }),
    )
  })

  it('ends below 2^256', () => {
    expect(parseBaseUnits(`${2n ** 256n - 1n}`)).toBe(2n ** 256n - 1n)
    expect(parseBaseUnits(`${2n ** 256n}`)).toBeUndefined()
  })

  it('takes amounts from 1 to 2^248 - 1', () => {
    expect(parseAmount('0')).toBeUndefined()
    expect(parseAmount('1')).toBe(1n)
    expect(parseAmount(`${amountLimit - 1n}`)).toBe(2n ** 248n - 1n)
    expect(parseAmount(`${amountLimit}`)).toBeUndefined()
  })

  // A bigint of this length takes minutes to parse, so the test ends only if the digits are refused first.
  it('refuses fifty million digits without computing with them', () => {
    expect(parseBaseUnits('9'.repeat(50_000_000))).toBeUndefined()
  })
})

describe('hex', () => {
  const parsers = [
    ['parseAddress', parseAddress, 20],
    ['parseChallengeNonce', parseChallengeNonce, 32],
    ['parseTxHash', parseTxHash, 32],
    ['parseBytes32', parseBytes32, 32],
    ['parseSignature', parseSignature, 65],
  ] as const

  it.each(parsers)('%s reads its length in any case and hands back lower case', (_, parse, bytes) => {
    fc.assert(fc.property(hexOf(bytes), (text) => parse(text) === text.toLowerCase()))
  })

  it.each(parsers)('%s refuses every other length and form', (_, parse, bytes) => {
    const digits = 'ab'.repeat(bytes)
    const wrong = [
      digits,
      `0X${digits}`,
      `0x${digits}00`,
      `0x${digits.slice(2)}`,
      `0x${digits.slice(1)}`,
      `0x${digits.slice(1)}g`,
      `0x${digits}\n`,
      ` 0x${digits}`,
      `0x${digits.slice(2)},a`,
      '0x',
      '',
      null,
      undefined,
      1,
      [`0x${digits}`],
      { toString: () => `0x${digits}` },
    ]
    for (const value of wrong) expect(parse(value)).toBeUndefined()
  })

  it('reads hex of any even length, none included', () => {
    fc.assert(
      fc.property(fc.nat({ max: 80 }), (digits) => {
        const text = `0x${'A'.repeat(digits)}`
        expect(parseHex(text)).toBe(digits % 2 === 0 ? text.toLowerCase() : undefined)
      }),
    )
  })

  it('survives twenty million digits', () => {
    expect(parseHex(`0x${'ab'.repeat(10_000_000)}`)).toHaveLength(20_000_002)
    expect(parseAddress(`0x${'ab'.repeat(10_000_000)}`)).toBeUndefined()
  })

  // The examples of EIP-55: all upper, all lower, mixed.
  it.each([
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  ])('gives %s its mixed case', (address) => {
    expect(toChecksum(parseAddress(address) ?? expect.fail())).toBe(address)
  })

  it('writes the checksum form that viem writes', () => {
    fc.assert(
      fc.property(hexOf(20), (text) => {
        const address = parseAddress(text)
        expect(address && toChecksum(address)).toBe(getAddress(text.toLowerCase()))
      }),
    )
  })
})

describe('unix seconds', () => {
  it('takes whole non-negative seconds', () => {
    fc.assert(fc.property(unixSeconds, (value) => parseUnixSeconds(value) === value))
  })

  it.each([-1, 1.5, Number.NaN, Infinity, 2 ** 53, '1', null, undefined, 1n])('refuses %s', (value) => {
    expect(parseUnixSeconds(value)).toBeUndefined()
  })
})
