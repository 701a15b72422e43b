import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, smallJson } from '../test/arbitrary.js'
import { deepEqual, isObject, isSubset, levelsMax, nestsWithin } from './json.js'

const parse = (text: string): unknown => JSON.parse(text)
const nested = (levels: number) => parse('['.repeat(levels) + ']'.repeat(levels))
const nestedObject = (levels: number) => parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

/** A canonical text: keys sorted at every depth, as lists of entries, so that `__proto__` is an ordinary key. */
const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : isObject(value)
      ? `{${Object.keys(value)
          .sort()
          .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
          .join()}}`
      : JSON.stringify(value)

describe('comparison of JSON', () => {
  it('calls a value equal to its copy, whatever its keys', () => {
    fc.assert(fc.property(json, (value) => deepEqual(value, parse(JSON.stringify(value)))))
  })

  it('tells two values apart exactly when their sorted texts differ', () => {
    fc.assert(
      fc.property(smallJson, smallJson, (a, b) => {
        expect(deepEqual(a, b)).toBe(canonical(a) === canonical(b))
        expect(deepEqual(b, a)).toBe(deepEqual(a, b))
      }),
    )
  })

  it('does not mind the order of keys but the order of items', () => {
    expect(deepEqual(parse('{"a":1,"b":2}'), parse('{"b":2,"a":1}'))).toBe(true)
    expect(deepEqual([1, 2], [2, 1])).toBe(false)
  })

  it.each([
    ['a prototype that is only a key', '{"__proto__":{"a":1}}', '{}'],
    ['two different __proto__ keys', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}'],
    ['constructor and toString', '{"constructor":1}', '{"toString":1}'],
    ['a key the other side only inherits', '{"constructor":null}', '{"prototype":null}'],
    ['an array and an object', '[]', '{}'],
    ['an array and its indices', '["a"]', '{"0":"a"}'],
    ['null and nothing', 'null', '{}'],
    ['a number and its text', '1', '"1"'],
    ['false and zero', 'false', '0'],
    ['a shorter array', '[1,2]', '[1]'],
  ])('tells apart %s', (_, a, b) => {
    expect(deepEqual(parse(a), parse(b))).toBe(false)
    expect(deepEqual(parse(b), parse(a))).toBe(false)
  })

  it('takes -0 for 0, as every other JSON reader does', () => {
    expect(deepEqual(parse('-0'), parse('0'))).toBe(true)
  })

  it('takes a key set to undefined for an absent one', () => {
    expect(deepEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true)
    expect(deepEqual({ b: undefined, a: 1 }, { a: 1, c: undefined })).toBe(true)
    expect(deepEqual({ a: undefined }, { a: null })).toBe(false)
    expect(isSubset({ a: undefined }, {})).toBe(true)
    expect(isSubset({ constructor: undefined }, {})).toBe(true)
  })

  it('finds every value inside itself and inside itself with more keys', () => {
    fc.assert(
      fc.property(json, json, (value, more) => {
        expect(isSubset(value, value)).toBe(true)
        if (isObject(value)) expect(isSubset(value, { ...value, 'one more': more })).toBe(true)
      }),
    )
  })

  it('finds a subset at every depth of objects, but never in part of an array', () => {
    expect(isSubset({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toBe(true)
    expect(isSubset({ a: { b: 1 } }, { a: { b: 2 } })).toBe(false)
    expect(isSubset({ a: [1] }, { a: [1, 2] })).toBe(false)
    expect(isSubset({ a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }] })).toBe(false)
  })

  it('does not take inherited keys for echoed ones', () => {
    expect(isSubset({ constructor: Object }, {})).toBe(false)
    expect(isSubset(parse('{"__proto__":{}}'), {})).toBe(false)
    expect(isSubset({ toString: Object.prototype.toString }, {})).toBe(false)
  })

  it('answers instead of exhausting the stack on hostile nesting', () => {
    expect(deepEqual(nested(50_000), nested(50_000))).toBe(false)
    expect(isSubset(nestedObject(50_000), nestedObject(50_000))).toBe(false)
    expect(nestsWithin(nested(50_000))).toBe(false)
  })

  it('compares down to the deepest level that is allowed', () => {
    expect(nestsWithin(nested(levelsMax))).toBe(true)
    expect(nestsWithin(nested(levelsMax + 1))).toBe(false)
    expect(deepEqual(nested(levelsMax), nested(levelsMax))).toBe(true)
    expect(isSubset(nestedObject(levelsMax), nestedObject(levelsMax))).toBe(true)
    expect(isSubset(nestedObject(levelsMax + 1), nestedObject(levelsMax + 1))).toBe(false)
  })
})
