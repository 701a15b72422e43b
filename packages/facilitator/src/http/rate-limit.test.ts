import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { describeRateLimits } from '../../test/rate-limit-contract.js'
import { createRateLimit, createRateLimits } from './rate-limit.js'

describeRateLimits('in memory', () => {
  const clock = stoppedClock()
  return { rateLimits: createRateLimits({ keysMax: 10, clock }), advance: clock.advance }
})

describe('createRateLimit', () => {
  it('gives each key its own count, and the seconds until it is free again', async () => {
    const clock = stoppedClock()
    const limit = createRateLimit({ perMinute: 2, keysMax: 10, clock })
    expect([await limit.take('a'), await limit.take('a')]).toEqual(['ok', 'ok'])
    clock.advance(20_500)
    expect(await limit.take('a')).toEqual({ retryAfterSeconds: 40 })
    expect(await limit.take('b')).toBe('ok')
    clock.advance(39_500)
    expect(await limit.take('a')).toBe('ok')
  })

  it.each([0, -1])('R-072 R-074 %i switches it off', async (perMinute) => {
    const limit = createRateLimit({ perMinute, keysMax: 1, clock: stoppedClock() })
    const all = await Promise.all(Array.from({ length: 1000 }, () => limit.take('a')))
    expect(all.every((taken) => taken === 'ok')).toBe(true)
  })

  it('keeps a bounded number of keys and forgets the oldest first', async () => {
    const limit = createRateLimit({ perMinute: 1, keysMax: 2, clock: stoppedClock() })
    for (const key of ['a', 'b', 'c']) await limit.take(key)
    expect(await limit.take('b')).not.toBe('ok')
    expect(await limit.take('c')).not.toBe('ok')
    expect(await limit.take('a')).toBe('ok')
  })

  it('never lets more than the rate through in one window', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat({ max: 2_900 }), { maxLength: 20 }),
        async (rate, steps) => {
          const clock = stoppedClock()
          const limit = createRateLimit({ perMinute: rate, keysMax: 10, clock })
          let passed = 0
          for (const step of steps) {
            if ((await limit.take('a')) === 'ok') passed += 1
            clock.advance(step)
          }
          expect(passed).toBe(Math.min(rate, steps.length))
        },
      ),
    ))
})
