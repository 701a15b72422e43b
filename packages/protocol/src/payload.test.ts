import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hexOf, smallJson, uint256 } from '../test/arbitrary.js'
import * as Payload from './payload.js'

const permitWire = fc.record({
  challengeNonce: hexOf(32),
  payer: hexOf(20),
  permit: fc.record({
    value: uint256.map(String),
    nonce: uint256.map(String),
    deadline: uint256.map(String),
    v: fc.nat({ max: 255 }),
    r: hexOf(32),
    s: hexOf(32),
  }),
  burnAuthSig: hexOf(65),
})
const selfTransferWire = fc.record({ challengeNonce: hexOf(32), burnTxHash: hexOf(32) })
const anyWire = fc.oneof(permitWire, selfTransferWire)

const permit = { value: '10000', nonce: '0', deadline: '1800000600', v: 27, r: hex(32), s: hex(32) }
const shapeA = { challengeNonce: hex(32), payer: hex(20), permit, burnAuthSig: hex(65) }
const shapeB = { challengeNonce: hex(32), burnTxHash: hex(32) }

function hex(bytes: number): string {
  return `0x${'ab'.repeat(bytes)}`
}

describe('the two shapes', () => {
  it('R-020 R-024 reads every permit payload and writes it back in lower case', () => {
    fc.assert(
      fc.property(permitWire, (wire) => {
        const parsed = Payload.parse(wire)
        expect(parsed.ok && parsed.value.kind).toBe('permit')
        expect(parsed.ok && Payload.toWire(parsed.value)).toEqual(lowered(wire))
      }),
    )
  })

  it('R-032 reads every self-transfer payload and writes it back in lower case', () => {
    fc.assert(
      fc.property(selfTransferWire, (wire) => {
        const parsed = Payload.parse(wire)
        expect(parsed.ok && parsed.value.kind).toBe('self-transfer')
        expect(parsed.ok && Payload.toWire(parsed.value)).toEqual(lowered(wire))
      }),
    )
  })

  it('reads its own writing back unchanged', () => {
    fc.assert(
      fc.property(anyWire, (wire) => {
        const first = Payload.parse(wire)
        const second = Payload.parse(first.ok ? Payload.toWire(first.value) : undefined)
        expect(second.ok).toBe(true)
        expect(second).toEqual(first)
      }),
    )
  })

  it('R-171 ignores unknown keys, in the permit too', () => {
    fc.assert(
      fc.property(anyWire, smallJson, (wire, value) => {
        const unknown = { kind: value, version: value, constructor: value }
        const inner = 'permit' in wire ? { permit: { ...wire.permit, ...unknown } } : {}
        expect(Payload.parse({ ...unknown, ...wire, ...inner })).toEqual(Payload.parse(wire))
      }),
    )
  })

  it('gives one identity to one authorization, whatever its key order, letter case and unknown keys', () => {
    fc.assert(
      fc.property(anyWire, (wire) => {
        const reversed = Object.fromEntries(Object.entries(wire).reverse())
        expect(identityOf({ ...reversed, unknown: 1 })).toBe(identityOf(wire))
        expect(identityOf(lowered(wire))).toBe(identityOf(wire))
      }),
    )
  })

  it('gives two identities to payloads that authorize a burn with other bytes', () => {
    const others = [
      shapeA,
      { ...shapeA, challengeNonce: `0x${'ac'.repeat(32)}` },
      { ...shapeA, payer: `0x${'ac'.repeat(20)}` },
      { ...shapeA, burnAuthSig: `0x${'ac'.repeat(65)}` },
      shapeB,
    ].map(identityOf)
    expect(new Set(others).size).toBe(others.length)
  })

  it('gives one identity to an authorization whose permit was signed again', () => {
    const again = { ...permit, nonce: '1', v: 28, r: `0x${'ac'.repeat(32)}`, s: `0x${'ad'.repeat(32)}` }
    expect(identityOf({ ...shapeA, permit: again })).toBe(identityOf(shapeA))
  })
})

describe('discrimination', () => {
  const full = { ...shapeA, ...shapeB }
  const keys = Object.keys(full) as (keyof typeof full)[]
  const subsets = Array.from({ length: 2 ** keys.length }, (_, bits) =>
    keys.filter((_, index) => (bits >> index) % 2 === 1),
  )
  const triple = ['permit', 'payer', 'burnAuthSig']

  /** The rule as a table: how many fields of the triple, burnTxHash or not, challengeNonce or not. */
  function expectedOf(subset: readonly string[]): string {
    const ofTriple = triple.filter((key) => subset.includes(key)).length
    if (!subset.includes('challengeNonce')) return 'malformed_payload'
    if (ofTriple === 3) return 'permit'
    if (ofTriple > 0) return 'malformed_payload'
    return subset.includes('burnTxHash') ? 'self-transfer' : 'malformed_payload'
  }

  it.each(subsets)('R-031 R-032 R-150 holds for the keys %j %j %j %j %j', (...subset) => {
    const present = subset.filter((key) => key !== undefined)
    const parsed = Payload.parse(Object.fromEntries(present.map((key) => [key, full[key]])))
    expect(parsed.ok ? parsed.value.kind : parsed.reason).toBe(expectedOf(present))
  })

  it.each([null, false, 0, '', {}, []])(
    'R-031 counts a key of the triple as present when it is %j',
    (value) => {
      for (const key of triple) {
        expect(Payload.parse({ ...shapeB, [key]: value })).toMatchObject({
          ok: false,
          reason: 'malformed_payload',
          message: `partial permit: only ${key}`,
        })
        expect(Payload.parse({ ...full, [key]: value })).toMatchObject({ reason: 'malformed_payload' })
      }
    },
  )

  it('R-031 a broken permit never falls back to the burnTxHash beside it', () => {
    expect(Payload.parse({ ...full, burnAuthSig: '0x' })).toMatchObject({ reason: 'malformed_payload' })
    expect(Payload.parse({ ...full, permit: {} })).toMatchObject({ reason: 'malformed_payload' })
  })

  it('is not decided by keys that hang on a __proto__ key', () => {
    const hanging = JSON.parse(`{"__proto__":${JSON.stringify(shapeA)}}`)
    expect(Payload.parse(hanging).ok).toBe(false)
    expect(Payload.parse({ ...shapeB, ...hanging })).toEqual(Payload.parse(shapeB))
  })
})

describe('the form of each field', () => {
  it.each([
    ['challengeNonce', { challengeNonce: hex(31) }],
    ['payer', { payer: hex(32) }],
    ['payer', { payer: 'alice.eth' }],
    ['burnAuthSig', { burnAuthSig: hex(64) }],
    ['burnAuthSig', { burnAuthSig: hex(66) }],
    ['permit', { permit: [] }],
    ['permit', { permit: hex(65) }],
    ['permit.value', { permit: { ...permit, value: 10_000 } }],
    ['permit.value', { permit: { ...permit, value: '1e4' } }],
    ['permit.value', { permit: { ...permit, value: '-1' } }],
    ['permit.value', { permit: { ...permit, value: `${2n ** 256n}` } }],
    ['permit.nonce', { permit: { ...permit, nonce: '0x0' } }],
    ['permit.nonce', { permit: { ...permit, nonce: '00' } }],
    ['permit.deadline', { permit: { ...permit, deadline: 1_800_000_600 } }],
    ['permit.deadline', { permit: { ...permit, deadline: '9'.repeat(1_000_000) } }],
    ['permit.v', { permit: { ...permit, v: '27' } }],
    ['permit.v', { permit: { ...permit, v: 27.5 } }],
    ['permit.v', { permit: { ...permit, v: 256 } }],
    ['permit.v', { permit: { ...permit, v: -1 } }],
    ['permit.r', { permit: { ...permit, r: hex(31) } }],
    ['permit.s', { permit: { ...permit, s: hex(33) } }],
  ])('R-024 says %s when it is the malformed field of a permit', (field, change) => {
    const parsed = Payload.parse({ ...shapeA, ...change })
    expect(parsed).toMatchObject({ ok: false, reason: 'malformed_payload' })
    expect(parsed.ok ? '' : parsed.message.split(':')[0]).toBe(field)
  })

  it.each(['value', 'nonce', 'deadline', 'v', 'r', 's'])('R-024 refuses a permit without %s', (key) => {
    const parsed = Payload.parse({ ...shapeA, permit: { ...permit, [key]: undefined } })
    expect(parsed.ok ? '' : parsed.message.split(':')[0]).toBe(`permit.${key}`)
  })

  it.each([
    ['challengeNonce', { challengeNonce: null }],
    ['burnTxHash', { burnTxHash: hex(20) }],
    ['burnTxHash', { burnTxHash: null }],
    ['burnTxHash', { burnTxHash: [hex(32)] }],
  ])('R-032 says %s when it is the malformed field of a self-transfer', (field, change) => {
    const parsed = Payload.parse({ ...shapeB, ...change })
    expect(parsed).toMatchObject({ ok: false, reason: 'malformed_payload' })
    expect(parsed.ok ? '' : parsed.message.split(':')[0]).toBe(field)
  })

  it('refuses anything else without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(smallJson, fc.anything()), (raw) => {
        expect(Payload.parse(raw)).toMatchObject({ ok: false, reason: 'malformed_payload' })
      }),
    )
  })
})

function identityOf(wire: unknown): string {
  const parsed = Payload.parse(wire)
  if (!parsed.ok) throw new Error(parsed.message)
  return Payload.identity(parsed.value)
}

function lowered(wire: object): object {
  return JSON.parse(
    JSON.stringify(wire, (_, value) => (typeof value === 'string' ? value.toLowerCase() : value)),
  )
}
