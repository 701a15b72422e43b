import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, permitPayloadOf, seconds } from '../../test/challenges.js'
import { type LifecycleEvent, lifecycle, stateAt } from './lifecycle.js'
import type { Payment, PaymentState } from './ports.js'

const states: PaymentState[] = ['open', 'expired', 'accepted', 'finalized']
const events: LifecycleEvent[] = ['ttl_elapsed', 'burn_confirmed', 'mint_confirmed']
const challenge = challengeOf(1)
const beforeExpiry = challenge.expiresAt * 1000 - 1
const atExpiry = challenge.expiresAt * 1000

describe('the lifecycle table', () => {
  const moves: Record<string, PaymentState> = {
    'open ttl_elapsed': 'expired',
    'open burn_confirmed': 'accepted',
    'accepted mint_confirmed': 'finalized',
  }
  it.each(states.flatMap((state) => events.map((event) => [state, event] as const)))(
    'R-111 R-112 %s on %s moves only where the protocol says',
    (state, event) => {
      expect(lifecycle[state][event]).toBe(moves[`${state} ${event}`])
    },
  )

  it('nothing leads back, and finalized is the end', () => {
    for (const state of states) {
      for (const next of Object.values(lifecycle[state])) expect(next).not.toBe('open')
    }
    expect(lifecycle.finalized).toEqual({})
  })
})

describe('stateAt', () => {
  const claim = { identity: 'a', ticketed: false, payload: permitPayloadOf(challenge) }
  const accepted = { burn: burnOf(1), at: seconds(1_700_000_001) }
  const cases: [string, Payment, PaymentState, PaymentState][] = [
    ['an unclaimed challenge', { challenge }, 'open', 'expired'],
    ['a claimed one', { challenge, claim }, 'open', 'open'],
    ['an accepted one', { challenge, claim, accepted }, 'accepted', 'accepted'],
    ['a finalized one', { challenge, claim, accepted, finalizedAt: seconds(1) }, 'finalized', 'finalized'],
  ]
  it.each(cases)('R-111 %s is %3$s before and %4$s at its expiry', (_name, payment, before, at) => {
    expect([stateAt(payment, beforeExpiry), stateAt(payment, atExpiry)]).toEqual([before, at])
  })
})
