import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createRateLimit } from './rate-limit.js'

describe('createRateLimit', () => {
  it('gives each key its own count, and the seconds until it is free again', () => {
    const clock = stoppedClock()
    const limit = createRateLimit({ perMinute: 2, keysMax: 10, clock })
    expect([limit.take('a'), limit.take('a')]).toEqual(['ok', 'ok'])
    clock.advance(20_500)
    expect(limit.take('a')).toEqual({ retryAfterSeconds: 40 })
    expect(limit.take('b')).toBe('ok')
    clock.advance(39_500)
    expect(limit.take('a')).toBe('ok')
  })

  it.each([0, -1])('R-072 R-074 %i switches it off', (perMinute) => {
    const limit = createRateLimit({ perMinute, keysMax: 1, clock: stoppedClock() })
    expect(Array.from({ length: 1000 }, () => limit.take('a')).every((taken) => taken === 'ok')).toBe(true)
  })

  it('keeps a bounded number of keys and forgets the oldest first', () => {
    const limit = createRateLimit({ perMinute: 1, keysMax: 2, clock: stoppedClock() })
    for (const key of ['a', 'b', 'c']) limit.take(key)
    expect(limit.take('b')).not.toBe('ok')
    expect(limit.take('c')).not.toBe('ok')
    expect(limit.take('a')).toBe('ok')
  })

  it('never lets more than the rate through in one window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat({ max: 2_900 }), { maxLength: 20 }),
        (rate, steps) => {
          const clock = stoppedClock()
          const limit = createRateLimit({ perMinute: rate, keysMax: 10, clock })
          let passed = 0
          for (const step of steps) {
            if (limit.take('a') === 'ok') passed += 1
            clock.advance(step)
          }
          expect(passed).toBe(Math.min(rate, steps.length))
        },
      ),
    )
  })
})
