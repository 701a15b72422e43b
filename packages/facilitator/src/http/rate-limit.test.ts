import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createRateLimit, rateLimitKey } from './rate-limit.js'

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

describe('rateLimitKey', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s counts as %s', (ip, key) => {
    expect(rateLimitKey(ip)).toBe(key)
  })

  it('a caller that hung up has a key all the same', () => {
    expect(rateLimitKey(undefined)).toBe('gone')
  })

  it('two addresses of one /64 share a key, however they are written', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.array(group, { minLength: 4, maxLength: 4 }), group, group, (network, a, b) => {
        const prefix = network.map((part) => part.toString(16)).join(':')
        const spelled = `${prefix}:0:0:0:${a.toString(16)}`
        expect(rateLimitKey(spelled)).toBe(rateLimitKey(`${prefix}::${b.toString(16)}`))
      }),
    )
  })
})
