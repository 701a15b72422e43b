import { keccak_256 } from '@noble/hashes/sha3'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccak256 as keccak } from './keccak.js'

describe('keccak256', () => {
  it('hashes nothing and a word as everybody does', () => {
    expect(bytesToHex(keccak(new Uint8Array()))).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
    expect(bytesToHex(keccak(utf8ToBytes('abc')))).toBe(
      '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    )
  })

  it('hashes every length around the ends of blocks as noble does', () => {
    const message = Uint8Array.from({ length: 410 }, (_, i) => (i * 7) % 256)
    for (let length = 0; length <= message.length; length++) {
      const part = message.subarray(0, length)
      expect(keccak(part)).toEqual(keccak_256(part))
    }
  })

  it('hashes any bytes as noble does, also after longer ones, and keeps no view of its memory', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 600 }),
        fc.integer({ min: 0, max: 150_000 }),
        (message, long) => {
          const hash = keccak(message)
          const zeros = new Uint8Array(long)
          expect(keccak(zeros)).toEqual(keccak_256(zeros))
          expect(hash).toEqual(keccak_256(message))
        },
      ),
      { numRuns: 30 },
    )
  })
})
