import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, offer } from '../test/arbitrary.js'
import * as Headers from './headers.js'
import { levelsMax } from './json.js'

const base64 = (bytes: string | readonly number[]) =>
  Buffer.from(typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)).toString('base64')

describe('headers', () => {
  it('R-003 are named PAYMENT-REQUIRED, PAYMENT-SIGNATURE and PAYMENT-RESPONSE', () => {
    expect([Headers.paymentRequired, Headers.paymentSignature, Headers.paymentResponse]).toEqual([
      'PAYMENT-REQUIRED',
      'PAYMENT-SIGNATURE',
      'PAYMENT-RESPONSE',
    ])
  })

  it('R-003 carry any JSON verbatim, key order and all of unicode included', () => {
    fc.assert(
      fc.property(json, (value) => {
        const decoded = Headers.decode(Headers.encode(value))
        expect(decoded.ok && JSON.stringify(decoded.value)).toBe(JSON.stringify(value))
      }),
      { numRuns: 500 },
    )
  })

  it('R-003 are written in bytes that a header may hold', () => {
    fc.assert(fc.property(json, (value) => /^[A-Za-z0-9+/]+={0,2}$/.test(Headers.encode(value))))
  })

  it('R-003 are written as the official encoders write them', () => {
    fc.assert(
      fc.property(offer, json, (accepted, payload) => {
        const value = { x402Version: 2, accepted, payload }
        const header = Headers.encode(value)
        expect(header).toBe(encodePaymentSignatureHeader(value as never))
        expect(header).toBe(encodePaymentRequiredHeader(value as never))
        expect(header).toBe(encodePaymentResponseHeader(value as never))
      }),
    )
  })

  it('R-003 are read by the official decoders', () => {
    fc.assert(
      fc.property(json, (value) => {
        const header = Headers.encode(value)
        for (const decode of [
          decodePaymentSignatureHeader,
          decodePaymentRequiredHeader,
          decodePaymentResponseHeader,
        ]) {
          expect(JSON.stringify(decode(header))).toBe(JSON.stringify(value))
        }
      }),
    )
  })

  it('R-003 are read whenever the official decoder reads them, but for bad UTF-8', () => {
    const alphabet = fc.constantFrom(...'MTIzeyJ9==-_ \n')
    fc.assert(
      fc.property(fc.string({ unit: alphabet, minLength: 1, maxLength: 12 }), (text) => {
        const decoded = Headers.decode(text)
        if (!decoded.ok && decoded.message === 'the header is not UTF-8') return
        expect(decoded.ok).toBe(officialReads(text))
      }),
      { numRuns: 5_000 },
    )
  })

  it.each([
    ['nothing', '', 'the header is empty'],
    ['no string', undefined, 'the header is empty'],
    ['a list of headers', ['e30='], 'the header is empty'],
    ['a character outside base64', 'e30!', 'the header is not base64'],
    [
      'the URL-safe alphabet',
      base64([0xfb, 0xff]).replace('+', '-').replace('/', '_'),
      'the header is not base64',
    ],
    ['whitespace', 'e30=\n', 'the header is not base64'],
    ['half the padding', 'ew=', 'the header is not base64'],
    ['padding in the middle', 'e30=e30=', 'the header is not base64'],
    ['one character too many', 'e30=e', 'the header is not base64'],
    ['only padding', '==', 'the header is not base64'],
    ['a lone continuation byte', base64([0x22, 0x80, 0x22]), 'the header is not UTF-8'],
    ['an overlong slash', base64([0x22, 0xc0, 0xaf, 0x22]), 'the header is not UTF-8'],
    ['an encoded surrogate', base64([0x22, 0xed, 0xa0, 0x80, 0x22]), 'the header is not UTF-8'],
    ['a cut-off character', base64([0x22, 0xe2, 0x82]), 'the header is not UTF-8'],
    ['no JSON', base64('not json'), 'the header is not JSON'],
    ['cut-off JSON', base64('{"a":1'), 'the header is not JSON'],
    ['JSON and more', base64('{}{}'), 'the header is not JSON'],
    ['a trailing comma', base64('{"a":1,}'), 'the header is not JSON'],
    ['not a number', base64('NaN'), 'the header is not JSON'],
    ['hostile nesting', base64('['.repeat(20_000) + ']'.repeat(20_000)), 'the header nests too deep'],
    ['too many characters', 'A'.repeat(Headers.headerCharsMax + 4), 'the header is too long'],
    ['a hundred million characters', 'A'.repeat(100_000_000), 'the header is too long'],
  ])('R-003 refuses %s with a message of its own', (_, text, message) => {
    expect(Headers.decode(text)).toEqual({ ok: false, reason: 'malformed_request', message })
  })

  it('R-003 reads a header of the greatest size and nesting', () => {
    const value = 'x'.repeat((Headers.headerCharsMax / 4) * 3 - 2)
    const header = Headers.encode(value)
    expect(header).toHaveLength(Headers.headerCharsMax)
    expect(Headers.decode(header)).toEqual({ ok: true, value })
    expect(Headers.decode(base64('['.repeat(levelsMax) + ']'.repeat(levelsMax))).ok).toBe(true)
  })

  it('R-003 reads base64 without its padding, as the official decoders do', () => {
    expect(Headers.decode('e30')).toEqual({ ok: true, value: {} })
    expect(Headers.decode('MQ')).toEqual({ ok: true, value: 1 })
  })

  it('keeps __proto__ a key like any other', () => {
    const decoded = Headers.decode(base64('{"__proto__":{"admin":true}}'))
    const value = decoded.ok ? decoded.value : undefined
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })
})

function officialReads(text: string): boolean {
  try {
    decodePaymentSignatureHeader(text)
    return true
  } catch {
    return false
  }
}
