import { Secret } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { limits } from '../../config/limits.js'
import { createAdminAuth, createWrongTokens } from './auth.js'

describe('the guard of the administrative surface', () => {
  it('R-141 opens for the token alone', () => {
    const auth = createAdminAuth(new Secret('a-long-enough-token'))
    expect(auth('Bearer a-long-enough-token')).toBe(true)
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer a-long-enough-toke',
      'Bearer a-long-enough-token2',
    ]) {
      expect(auth(wrong)).toBe(false)
    }
  })

  it('R-142 opens for nobody without one', () => {
    const auth = createAdminAuth(undefined)
    for (const any of [undefined, '', 'Bearer ', 'Bearer x', 'Bearer undefined'])
      expect(auth(any)).toBe(false)
  })
})

describe('wrong tokens', () => {
  const { wrongTokensFree, wrongTokenWaitFirstMs, wrongTokenWaitMaxMs, wrongTokensForgetMs } = limits

  it('are answered at once for a while, and then each later than the one before, up to a bound', () => {
    const tries = createWrongTokens({ clock: stoppedClock(), keysMax: 2 })
    const waits = Array.from({ length: wrongTokensFree + 9 }, () => tries.waitMs('a'))
    expect(waits.slice(0, wrongTokensFree).every((ms) => ms === 0)).toBe(true)
    const first = wrongTokenWaitFirstMs
    expect(waits.slice(wrongTokensFree, wrongTokensFree + 3)).toEqual([first, 2 * first, 4 * first])
    expect(waits.at(-1)).toBe(wrongTokenWaitMaxMs)
    expect(tries.waitMs('b')).toBe(0)
  })

  it('are forgotten after a time without any', () => {
    const clock = stoppedClock()
    const tries = createWrongTokens({ clock, keysMax: 2 })
    for (let i = 0; i < wrongTokensFree + 3; i++) tries.waitMs('a')
    clock.advance(wrongTokensForgetMs - 1)
    expect(tries.waitMs('a')).toBeGreaterThan(0)
    clock.advance(wrongTokensForgetMs)
    expect(tries.waitMs('a')).toBe(0)
  })
})
