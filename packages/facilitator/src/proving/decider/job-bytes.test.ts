import { fieldPrime } from '@svc-zerc20/zk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeProof, decodeWitness, encodeProof, encodeWitness } from './job-bytes.js'

const number = fc.bigInt({ min: 0n, max: fieldPrime - 1n })
const input = fc.dictionary(
  fc.stringMatching(/^[a-z]\w{0,20}$/),
  fc.oneof(number, fc.array(number, { maxLength: 20 })),
  { maxKeys: 12 },
)
const proof = fc.record({
  proof: fc.array(number, { minLength: 8, maxLength: 8 }),
  signals: fc.array(number, { maxLength: 6 }),
})

describe("the bytes of a decider's jobs", () => {
  it('give back the witness and the proof that went in', () => {
    fc.assert(
      fc.property(input, proof, (witness, proved) => {
        expect(decodeWitness(encodeWitness(witness))).toEqual({ ...witness })
        expect(decodeProof(encodeProof(proved))).toEqual(proved)
      }),
    )
  })

  it('are the same for the same witness, whatever the order of its names', () => {
    expect(encodeWitness({ b: 2n, a: [1n] })).toEqual(encodeWitness({ a: [1n], b: 2n }))
  })

  it('are refused when they are cut off, longer, or of another kind', () => {
    const witness = encodeWitness({ a: [1n, 2n], b: 3n })
    const proved = encodeProof({ proof: Array.from({ length: 8 }, () => 1n), signals: [2n] })
    for (const [bytes, decode] of [
      [witness, decodeWitness],
      [proved, decodeProof],
    ] as const) {
      for (let length = 0; length < bytes.length; length++) {
        expect(() => decode(bytes.subarray(0, length))).toThrow('malformed')
      }
      expect(() => decode(Buffer.concat([bytes, Buffer.of(0)]))).toThrow('malformed')
    }
    expect(() => decodeWitness(proved)).toThrow('malformed')
    // A count far above the bytes that follow.
    const large = Buffer.from(witness)
    large.writeUInt32BE(60_000, 5 + 2 + 1 + 1 + 1)
    expect(() => decodeWitness(large)).toThrow('malformed')
  })
})
