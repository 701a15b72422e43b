import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, hashOf, permitPayloadOf, seconds, units } from '../../test/challenges.js'
import { burnPhaseAt, lifecycle, phaseAt, type Transition } from './lifecycle.js'
import type { Finalized, Payment, Phase } from './records.js'

const states: Phase[] = ['open', 'expired', 'accepted', 'finalized']
const events: Transition[] = ['ttl_elapsed', 'burn_confirmed', 'burn_vanished', 'mint_confirmed']
const challenge = challengeOf(1)
const beforeExpiry = challenge.expiresAt * 1000 - 1
const atExpiry = challenge.expiresAt * 1000

describe('the lifecycle table', () => {
  const moves: Record<string, Phase> = {
    'open ttl_elapsed': 'expired',
    'open burn_confirmed': 'accepted',
    'accepted mint_confirmed': 'finalized',
    'accepted burn_vanished': 'open',
  }
  it.each(states.flatMap((state) => events.map((event) => [state, event] as const)))(
    'R-111 R-112 %s on %s moves only where the protocol says',
    (state, event) => {
      expect(lifecycle[state][event]).toBe(moves[`${state} ${event}`])
    },
  )

  it('only a burn that vanished leads back, and finalized is the end', () => {
    for (const state of states) {
      for (const event of events) {
        if (event !== 'burn_vanished') expect(lifecycle[state][event]).not.toBe('open')
      }
    }
    expect(lifecycle.finalized).toEqual({})
  })
})

describe('phaseAt', () => {
  const claim = { identity: 'a', ticketed: false, payload: permitPayloadOf(challenge) }
  const accepted = { burn: burnOf(1), at: seconds(1_700_000_001) }
  const mint = { txHash: hashOf(2), blockNumber: 9n, value: units(1000n) }
  const finalized = { mint, at: seconds(1_700_000_060) }
  const cases: [string, Omit<Payment, 'granted'> & { finalized?: Finalized }, Phase, Phase][] = [
    ['an unclaimed challenge', { challenge }, 'open', 'expired'],
    ['a claimed one', { challenge, claim }, 'open', 'open'],
    ['an accepted one', { challenge, claim, accepted }, 'accepted', 'accepted'],
    ['a finalized one', { challenge, claim, accepted, finalized }, 'finalized', 'finalized'],
    ['one whose burn a reorg took', { challenge, claim, demoted: accepted }, 'open', 'open'],
    ['one accepted again', { challenge, claim, demoted: accepted, accepted }, 'accepted', 'accepted'],
    ['a minted one that was late', { challenge, finalized }, 'open', 'expired'],
  ]
  it.each(cases)('R-111 %s is %3$s before and %4$s at its expiry', (_name, payment, before, at) => {
    expect([phaseAt(payment, beforeExpiry), phaseAt(payment, atExpiry)]).toEqual([before, at])
    // Strangers are told of the burn alone.
    const { finalized: _, ...unminted } = payment
    expect(burnPhaseAt(payment, atExpiry)).toBe(burnPhaseAt(unminted, atExpiry))
    expect(burnPhaseAt(payment, atExpiry)).toBe(phaseAt(unminted, atExpiry))
  })
})
