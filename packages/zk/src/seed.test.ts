import { hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveSeed, seedFingerprint } from './seed.js'

const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('is HKDF-SHA256 of the key under our own domain', () => {
  fc.assert(
    fc.property(keys, (key) => {
      expect(deriveSeed(key)).toEqual(new Uint8Array(hkdfSync('sha256', key, '', 'svc-zerc20/seed/v1', 32)))
    }),
  )
})

test('differs for different keys', () => {
  fc.assert(
    fc.property(keys, keys, (one, other) => {
      fc.pre(Buffer.compare(one, other) !== 0)
      expect(deriveSeed(one)).not.toEqual(deriveSeed(other))
    }),
  )
})

test('refuses a key of another length without showing it', () => {
  expect(() => deriveSeed(new Uint8Array(31).fill(0xab))).toThrow(/^expected a treasury key of 32 bytes$/)
})

test('has a fingerprint of 16 digits under a domain of its own, which tells seeds apart', () => {
  fc.assert(
    fc.property(keys, keys, (one, other) => {
      fc.pre(Buffer.compare(one, other) !== 0)
      const expected = Buffer.from(hkdfSync('sha256', one, '', 'svc-zerc20/seed-fingerprint/v1', 8)).toString(
        'hex',
      )
      expect(seedFingerprint(one)).toBe(expected)
      expect(seedFingerprint(other)).not.toBe(expected)
    }),
  )
})
