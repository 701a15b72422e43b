import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, seconds, units } from '../../../test/challenges.js'
import type { Challenge, Fee } from '../records.js'
import { dueFeeOf } from './due.js'

const recipient = addressOf(8)
const at = seconds(1_700_000_500)
const fee: Fee = { amount: units(10n), bps: 100, chargeTo: 'provider', recipient }
const finalized = { mint: { value: units(1_000n), blockNumber: 7n }, at }

/** An accepted and finalized payment of 1000 units with a fee of 10. */
const paid = (changes: Partial<Challenge> = {}) => ({
  challenge: challengeOf(1, { fee, ...changes }),
  accepted: { burn: burnOf(1), at },
  finalized,
})

const lateBurn = (value = 1_000n) => ({
  burn: { ...burnOf(2), value: units(value) },
  reason: 'unrecorded' as const,
  at,
})

describe('the fee that a sweep may take', () => {
  it('is that of an accepted payment whose whole amount was minted', () => {
    expect(dueFeeOf(paid())).toEqual({ recipient, amount: 10n })
    const before = { ...paid(), finalized: { mint: { value: units(400n) }, at } }
    expect(dueFeeOf(before)).toMatchObject({ amount: 10n })
    const larger = { ...paid(), late: lateBurn(1_500n) }
    expect(dueFeeOf(larger)).toMatchObject({ amount: 10n })
  })

  it.each([
    ['was swept', { ...paid(), swept: true as const }],
    ['is not finalized', { challenge: paid().challenge, accepted: paid().accepted }],
    ['was not accepted: its burn is late', { challenge: paid().challenge, finalized, late: lateBurn() }],
    ['was accepted by less than its amount', paid({ amount: units(1_001n) })],
    [
      'has a mint of another burn to its address',
      { ...paid(), late: lateBurn(), finalized: { mint: { value: units(999n) }, at } },
    ],
    ['is split by the splitter', paid({ fee: { amount: units(10n), bps: 100, chargeTo: 'payer' } })],
    ['has a fee of nothing', paid({ fee: { ...fee, amount: units(0n) } })],
    ['has a fee above its amount', paid({ fee: { ...fee, amount: units(1_001n) } })],
    ['has no fee', { ...paid(), challenge: challengeOf(1) }],
  ])('is none when the payment %s', (_, payment) => {
    expect(dueFeeOf(payment)).toBeUndefined()
  })
})
