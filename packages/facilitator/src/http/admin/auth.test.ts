import { Secret } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { createAdminAuth } from './auth.js'

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
