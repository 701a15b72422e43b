import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeProof, decodeWitness, encodeProof, encodeWitness } from './job-text.js'

const number = fc.bigInt({ min: 0n, max: 2n ** 255n })
const input = fc.dictionary(
  fc.stringMatching(/^[a-z]\w{0,20}$/),
  fc.oneof(number, fc.array(number, { maxLength: 20 })),
  { maxKeys: 12 },
)
const proof = fc.record({
  proof: fc.array(number, { minLength: 8, maxLength: 8 }),
  signals: fc.array(number, { maxLength: 6 }),
})
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe("the text of a decider's jobs", () => {
  it('gives back the witness and the proof that went in', () => {
    fc.assert(
      fc.property(input, proof, (witness, proved) => {
        expect(decodeWitness(encodeWitness(witness))).toEqual({ ...witness })
        expect(decodeProof(encodeProof(proved))).toEqual(proved)
      }),
    )
  })

  it('is the same for the same witness, whatever the order of its names', () => {
    expect(encodeWitness({ b: 2n, a: [1n] })).toBe(encodeWitness({ a: [1n], b: 2n }))
  })

  it('is refused when it is cut off, longer, or of another kind', () => {
    const witness = encodeWitness({ a: [1n, 2n], b: 3n })
    const proved = encodeProof({ proof: Array.from({ length: 8 }, () => 1n), signals: [2n] })
    for (const [text, decode] of [
      [witness, decodeWitness],
      [proved, decodeProof],
    ] as const) {
      const whole = Buffer.from(text, 'base64').toString()
      for (let length = 0; length < whole.length; length++) {
        expect(() => decode(base64(whole.slice(0, length)))).toThrow('malformed')
      }
      expect(() => decode(base64(`${whole}0`))).toThrow('malformed')
    }
    expect(() => decodeProof(witness)).toThrow('malformed')
    const bad = ['{"a":1}', '{"a":"1"}', '{"a":"0x"}', `{"a":"0x${'f'.repeat(65)}"}`, '[]']
    for (const text of bad) expect(() => decodeWitness(base64(text))).toThrow('malformed')
  })
})
