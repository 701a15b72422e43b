import { describe, expect, it } from 'vitest'
import { addressOf, nonceOf, units } from '../../../test/challenges.js'
import { coveredBy, planSweep, type RecipientDue } from './plan.js'

const [one, other, treasury] = [addressOf(1), addressOf(2), addressOf(3)]
const terms = { treasury, minAmount: 100n, intervalMs: 60_000, paymentsMax: 3 }

/** Fees of 50 units each, the first of which is due since second 1 001. */
const feesOf = (seeds: readonly number[], changes: Partial<RecipientDue> = {}): RecipientDue => ({
  recipient: one,
  payments: seeds.length,
  amount: units(50n * BigInt(seeds.length)),
  oldestAt: 1_001,
  fromBlock: 1n,
  oldest: seeds.slice(0, 3).map((seed) => ({ nonce: nonceOf(seed), amount: units(50n) })),
  ...changes,
})

const plan = (due: readonly RecipientDue[], nowSeconds: number, isHurried = false) =>
  planSweep(due, terms, { nowMs: nowSeconds * 1000, isHurried })

describe('the next sweep', () => {
  it('waits until the oldest fee is old enough and the sum is worth its gas', () => {
    const [lone, both] = [feesOf([1]), feesOf([1, 2])]
    expect(plan([], 9_999)).toBe('nothing_due')
    expect(plan([lone], 9_999)).toBe('too_little')
    expect(plan([both], 1_060)).toBe('too_young')
    expect(plan([both], 1_061)).toBe(both)
    expect(plan([both], 1_002, true)).toBe(both)
    expect(plan([lone], 1_002, true)).toBe('too_little')
  })

  it('waits no longer when there are more fees than fit', () => {
    const fees = feesOf([1, 2, 3, 4, 5])
    expect(plan([fees], 1_006)).toBe(fees)
  })

  it('has one recipient: the one that waits longest', () => {
    const first = feesOf([1, 2], { recipient: other, oldestAt: 1_000 })
    expect(plan([feesOf([3, 4]), first], 9_999)).toBe(first)
  })
})

describe('fees that a transfer pays', () => {
  it('are the oldest, the last perhaps in part', () => {
    const seedsOf = (value: bigint) => coveredBy(value, feesOf([1, 2, 3]).oldest).length
    expect([0n, 1n, 50n, 51n, 100n, 101n, 150n, 999n].map(seedsOf)).toEqual([0, 1, 1, 2, 2, 3, 3, 3])
  })
})
