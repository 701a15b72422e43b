import { secp256k1 } from '@noble/curves/secp256k1'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRecover } from './recover.js'
import type { Signature } from './scalars.js'

const { n: order, Gx } = secp256k1.CURVE
const recover = createRecover()

const anyNumber = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, order - 1n, order, order + 1n, 2n ** 256n - 1n, (order - 1n) / 2n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
)
const scalar = fc.oneof(
  fc.constantFrom(1n, 2n, order - 1n, order - 2n),
  fc.bigInt({ min: 1n, max: order - 1n }),
)

const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')

/** What the library recovers. */
function byLibrary({ digest, r, s, isOdd }: Signature) {
  try {
    const signature = new secp256k1.Signature(r, s).addRecoveryBit(isOdd ? 1 : 0)
    const { x, y } = signature.recoverPublicKey(bytesOf(digest)).toAffine()
    return { x, y }
  } catch {
    return undefined
  }
}

/** A signature of a key with a nonce: the s that belongs to them. */
const signed = fc.tuple(scalar, scalar, anyNumber).map(([key, nonce, digest]) => {
  const { x, y } = secp256k1.ProjectivePoint.BASE.multiply(nonce).toAffine()
  const r = x % order
  const s = ((digest + r * key) * inverse(nonce)) % order
  const expected = secp256k1.ProjectivePoint.BASE.multiply(key).toAffine()
  return { signature: { digest, r, s, isOdd: (y & 1n) === 1n }, expected: { x: expected.x, y: expected.y } }
})

function inverse(value: bigint): bigint {
  let result = 1n
  for (let base = value % order, exponent = order - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % order
    base = (base * base) % order
  }
  return result
}

test('finds the key that signed, in both lanes and in lists of any length', () => {
  fc.assert(
    fc.property(fc.array(signed, { maxLength: 5 }), (all) => {
      const found = recover(all.map(({ signature }) => signature))
      for (const [i, { signature, expected }] of all.entries()) {
        // A nonce or a key that is near the generator meets points that cannot be added: that is told.
        if (found[i] === 'unsure') expect(byLibrary(signature)).toEqual(expected)
        else if (signature.s !== 0n) expect(found[i]).toEqual(expected)
      }
    }),
    { numRuns: 60 },
  )
})

test('is sure of every key but those that somebody chose for it', () => {
  const random = fc.bigInt({ min: 2n ** 200n, max: order - 2n ** 200n })
  fc.assert(
    fc.property(random, random, random, fc.boolean(), (digest, r, s, isOdd) => {
      expect(recover([{ digest, r, s, isOdd }])[0]).not.toBe('unsure')
    }),
    { numRuns: 60 },
  )
})

test('answers any numbers at all as the library does, or says that it cannot tell', () => {
  fc.assert(
    fc.property(
      anyNumber,
      fc.oneof(anyNumber, fc.constant(Gx)),
      anyNumber,
      fc.boolean(),
      (digest, r, s, isOdd) => {
        const signature = { digest, r, s, isOdd }
        const [found] = recover([signature])
        if (found !== 'unsure') expect(found).toEqual(byLibrary(signature))
      },
    ),
    { numRuns: 300 },
  )
})

test.each([1n, 2n, 5n, 16n, 31n, order - 1n])(
  'cannot tell where it adds a point to itself or its opposite: %d',
  (times) => {
    // The point of the signature is the generator, and both are taken as often.
    const isOdd = (secp256k1.CURVE.Gy & 1n) === 1n
    const s = (times * Gx) % order
    expect(recover([{ digest: s, r: Gx, s, isOdd }])).toEqual(['unsure'])
    expect(recover([{ digest: order - s, r: Gx, s, isOdd }])).toEqual(['unsure'])
  },
)

test('no signature without numbers in range, and each answer at its place', () => {
  const { x } = secp256k1.ProjectivePoint.BASE.multiply(2n ** 100n + 1n).toAffine()
  const good = { digest: 3n, r: x % order, s: 12345n, isOdd: false }
  const bad = [0n, order, order + 5n].flatMap((wrong) => [
    { ...good, r: wrong },
    { ...good, s: wrong },
  ])
  const expected = byLibrary(good)
  const asked = bad.flatMap((signature) => [signature, { ...good }])
  expect(recover(asked)).toEqual(bad.flatMap(() => [undefined, expected]))
  // Half of all numbers are the x of no point.
  expect(recover([{ ...good, r: 5n }])).toEqual([byLibrary({ ...good, r: 5n })])
})
