import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createRateLimit } from './rate-limit.js'

describe('createRateLimit', () => {
  it('gives each key its own count, and the seconds until it is free again', () => {
    const clock = stoppedClock()
    const limit = createRateLimit({ keysMax: 10, clock })
    expect([limit.take('a', 2), limit.take('a', 2)]).toEqual([undefined, undefined])
    clock.advance(20_500)
    expect(limit.take('a', 2)).toMatchObject({ reason: 'too_many_requests', retryAfter: 40 })
    expect(limit.take('b', 2)).toBeUndefined()
    clock.advance(39_500)
    expect(limit.take('a', 2)).toBeUndefined()
  })

  it.each([0, -1])('R-072 R-074 %i switches it off', (perMinute) => {
    const limit = createRateLimit({ keysMax: 1, clock: stoppedClock() })
    const all = Array.from({ length: 1000 }, () => limit.take('a', perMinute))
    expect(all.every((refused) => refused === undefined)).toBe(true)
  })

  it('keeps a bounded number of keys and forgets the oldest first', () => {
    const limit = createRateLimit({ keysMax: 2, clock: stoppedClock() })
    for (const key of ['a', 'b', 'c']) limit.take(key, 1)
    expect(limit.take('b', 1)).toBeDefined()
    expect(limit.take('c', 1)).toBeDefined()
    expect(limit.take('a', 1)).toBeUndefined()
  })

  it('never lets more than the rate through in one window', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat({ max: 2_900 }), { maxLength: 20 }),
        (rate, steps) => {
          const clock = stoppedClock()
          const limit = createRateLimit({ keysMax: 10, clock })
          let passed = 0
          for (const step of steps) {
            if (limit.take('a', rate) === undefined) passed += 1
            clock.advance(step)
          }
          expect(passed).toBe(Math.min(rate, steps.length))
        },
      ),
    ))
})
