import { describe, expect, it } from 'vitest'
import { createBoundedMap } from './bounded-map.js'

describe('a bounded map', () => {
  it('forgets the key that was set longest ago', () => {
    const map = createBoundedMap<string, number>(2)
    for (const [place, key] of ['a', 'b', 'c'].entries()) map.set(key, place)
    expect(['a', 'b', 'c'].map(map.get)).toEqual([undefined, 1, 2])
    expect([...map.keys()]).toEqual(['b', 'c'])
  })

  it('keeps a key that was set again longer than those that were not', () => {
    const map = createBoundedMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    expect(['a', 'b', 'c'].map(map.get)).toEqual([3, undefined, 4])
  })

  it('remembers nothing when it may have no keys', () => {
    const map = createBoundedMap<string, number>(0)
    map.set('a', 1)
    expect(map.get('a')).toBe(undefined)
  })
})
