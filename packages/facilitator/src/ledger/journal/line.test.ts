import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLine, encodeLine, fieldsOf, type JournalFields } from './line.js'

const reserved = new Set(['v', 'seq', 'crc', 'event', '__proto__'])
const anyFields: fc.Arbitrary<JournalFields> = fc
  .tuple(
    fc.string(),
    fc.dictionary(
      fc.string().filter((key) => !reserved.has(key)),
      fc.jsonValue(),
    ),
  )
  .map(([event, rest]) => ({ event, ...rest }))
const anySeq = fc.nat({ max: Number.MAX_SAFE_INTEGER })

/** A line with a good checksum, whatever it says. */
const sealed = (covered: string) => `${covered},"crc":"${crc32(covered).toString(16).padStart(8, '0')}"}`

const problemOf = (line: string) => {
  const decoded = decodeLine(Buffer.from(line))
  return decoded.ok ? undefined : decoded.message
}

describe('a journal line', () => {
  it('is one line, and reads as what was written', () => {
    fc.assert(
      fc.property(anySeq, anyFields, (seq, fields) => {
        const line = encodeLine(seq, fields)
        expect(line.indexOf('\n')).toBe(line.length - 1)
        const decoded = decodeLine(Buffer.from(line.slice(0, -1)))
        if (!decoded.ok) throw new Error(decoded.message)
        expect(decoded.value.seq).toBe(seq)
        // JSON has no -0: it becomes 0 before the line is formed.
        expect(fieldsOf(decoded.value)).toEqual(JSON.parse(JSON.stringify(fields)))
      }),
    )
  })

  it('shows every flipped bit, every missing end and every byte too many', () => {
    const arbitrary = fc.tuple(anyFields, fc.nat(), fc.nat({ max: 7 }))
    fc.assert(
      fc.property(arbitrary, ([fields, place, bit]) => {
        const bytes = Buffer.from(encodeLine(1, fields).slice(0, -1))
        const at = place % bytes.length
        const flipped = Buffer.from(bytes)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
        expect(decodeLine(flipped).ok).toBe(false)
        expect(decodeLine(bytes.subarray(0, at)).ok).toBe(false)
        expect(decodeLine(Buffer.concat([bytes, Buffer.from(' ')])).ok).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  it('says what is wrong with a line that was written whole', () => {
    expect(problemOf('')).toBe('its checksum does not match')
    const other = 'journal_corrupt'
    for (const [line, code, message] of [
      ['{"v":1,"seq":', other, 'it is not JSON'],
      ['{"v":2,"seq":1,"event":"x"', 'journal_newer', 'its format is 2, this program reads 1'],
      ['{"v":0,"seq":1,"event":"x"', other, 'its format is 0, this program reads 1'],
      ['{"v":1,"seq":"1","event":"x"', other, 'it has no sequence number'],
      ['{"v":1,"event":"x"', other, 'it has no sequence number'],
    ] as const) {
      expect(() => decodeLine(Buffer.from(sealed(line)))).toThrow(expect.objectContaining({ code, message }))
    }
  })

  it('reads a line of another program, whose fields stand in another order', () => {
    const decoded = decodeLine(Buffer.from(sealed('{"event":"x","number":5,"seq":7,"v":1')))
    if (!decoded.ok) throw new Error(decoded.message)
    expect(decoded.value.seq).toBe(7)
    expect(fieldsOf(decoded.value)).toEqual({ event: 'x', number: 5 })
  })

  it('with a good checksum that is no JSON behind its number is named when it is read', () => {
    const decoded = decodeLine(Buffer.from(sealed('{"v":1,"seq":1,"event":')))
    if (!decoded.ok) throw new Error(decoded.message)
    expect(() => fieldsOf(decoded.value)).toThrow('it is not JSON')
  })
})
