/** Tests that every implementation of the rate limits must pass, whatever its storage. */
import { describe, expect, it } from 'vitest'
import type { RateLimits } from '../src/http/rate-limit.js'

export type RateLimitsUnderTest = { readonly rateLimits: RateLimits; advance(ms: number): void }

export function describeRateLimits(name: string, open: () => RateLimitsUnderTest): void {
  describe(`rate limits ${name}`, () => {
    it('tell no more requests of one minute that they are fine than the rate, however many come at once', async () => {
      const { rateLimits, advance } = open()
      const rate = rateLimits('shared', 3)
      const takeAll = async () => {
        const taken = await Promise.all(Array.from({ length: 10 }, () => rate.take('a')))
        return taken.filter((each) => each === 'ok').length
      }
      expect(await takeAll()).toBe(3)
      advance(59_999)
      expect(await takeAll()).toBe(0)
      advance(1)
      expect(await takeAll()).toBe(3)
    })

    it('count each key and each rate for itself, and nothing when they are only asked', async () => {
      const { rateLimits, advance } = open()
      const [shared, known] = [rateLimits('shared', 1), rateLimits('known', 1)]
      for (let i = 0; i < 5; i++) expect(await shared.peek('a')).toBe('ok')
      expect([await shared.take('a'), await shared.take('b'), await known.take('a')]).toEqual([
        'ok',
        'ok',
        'ok',
      ])
      advance(20_500)
      expect(await shared.peek('a')).toEqual({ retryAfterSeconds: 40 })
      expect(await shared.take('a')).toEqual({ retryAfterSeconds: 40 })
    })

    it('are switched off at zero', async () => {
      const rate = open().rateLimits('beyond', 0)
      const taken = await Promise.all(Array.from({ length: 100 }, () => rate.take('a')))
      expect(new Set(taken)).toEqual(new Set(['ok']))
      expect(await rate.peek('a')).toBe('ok')
    })
  })
}
