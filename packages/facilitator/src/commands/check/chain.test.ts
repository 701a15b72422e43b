import { describe, expect, it } from 'vitest'
import { judgeTime } from './chain.js'

describe('judgeTime', () => {
  it.each([
    [{ behindSeconds: -60, ttlSeconds: 300, onDemand: false }, []],
    [{ behindSeconds: -61, ttlSeconds: 300, onDemand: false }, ['warn']],
    [{ behindSeconds: -151, ttlSeconds: 300, onDemand: false }, ['fail']],
    [{ behindSeconds: -151, ttlSeconds: 300, onDemand: true }, []],
    [{ behindSeconds: 30, ttlSeconds: 1, onDemand: false }, ['warn']],
    [{ behindSeconds: 31, ttlSeconds: 1, onDemand: true }, ['fail']],
  ])('fault 20: %j gives %j', (facts, levels) => {
    expect(judgeTime(facts).map(({ level }) => level)).toEqual(levels)
  })
})
