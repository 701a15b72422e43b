import { type BaseUnits, parseAmount } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeal } from './seal.js'

const secret = 'k'.repeat(32)
const seal = createSeal(secret)
const resource = 'GET /report'
const list = parseAmount('100') as BaseUnits

const json = fc.jsonValue({ maxDepth: 4 })
const offers = fc
  .record({ core: fc.dictionary(fc.string(), json), extra: fc.dictionary(fc.string(), json) })
  .map(({ core, extra }) => {
    const { seal: _, ...rest } = extra
    return { ...core, extra: rest }
  })

describe('the seal', () => {
  it('gives back the list price of any offer, after any trip through JSON', () => {
    fc.assert(
      fc.property(offers, (offer) => {
        const echoed = JSON.parse(JSON.stringify(seal.sign(offer, { resource, list })))
        expect(seal.listPrice(echoed, resource)).toBe(list)
      }),
    )
  })

  it('keeps every field of the offer as it was', () => {
    fc.assert(
      fc.property(offers, (offer) => {
        const { seal: _, ...extra } = seal.sign(offer, { resource, list }).extra as Record<string, unknown>
        expect({ ...seal.sign(offer, { resource, list }), extra }).toEqual(offer)
      }),
    )
  })

  it('breaks when a field is added, dropped or changed at any place', () => {
    fc.assert(
      fc.property(offers, fc.string(), json, fc.boolean(), (offer, key, value, isInExtra) => {
        fc.pre(key !== 'seal' && key !== 'extra')
        const sealed = JSON.parse(JSON.stringify(seal.sign(offer, { resource, list })))
        const place = isInExtra ? sealed.extra : sealed
        const before = Object.hasOwn(place, key) ? JSON.stringify(place[key]) : undefined
        fc.pre(before !== JSON.stringify(value))
        Object.defineProperty(place, key, { value, enumerable: true, configurable: true })
        expect(seal.listPrice(sealed, resource)).toBeUndefined()
        if (before === undefined) return
        delete place[key]
        expect(seal.listPrice(sealed, resource)).toBeUndefined()
      }),
    )
  })

  it('is good for its own resource only', () => {
    const sealed = seal.sign({ payTo: '0x01', extra: {} }, { resource, list })
    expect(seal.listPrice(sealed, 'GET /other')).toBeUndefined()
    expect(seal.listPrice(sealed, 'POST /report')).toBeUndefined()
  })

  it('cannot be carried over between list price, resource and field boundaries', () => {
    const offer = { x: '1', extra: { seal: '' } }
    const a = seal.sign(offer, { resource: 'GET /a"', list })
    expect(seal.listPrice(a, 'GET /a')).toBeUndefined()
    const dearer = { ...a, extra: { seal: a.extra.seal.replace(/^100\./, '1000.') } }
    expect(seal.listPrice(dearer, 'GET /a"')).toBeUndefined()
  })

  it('never throws, whatever is echoed', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
    const shaped = `100.${'A'.repeat(43)}`
    expect(seal.listPrice({ extra: { seal: shaped, deep } }, resource)).toBeUndefined()
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.oneof(json, fc.constant(shaped)), (fields, value) => {
        expect(seal.listPrice({ ...fields, extra: { seal: value } }, resource)).toBeUndefined()
      }),
    )
  })
})
