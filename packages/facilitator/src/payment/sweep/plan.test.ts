import { describe, expect, it } from 'vitest'
import { addressOf, nonceOf, seconds, units } from '../../../test/challenges.js'
import type { DueFee } from './due.js'
import { coveredBy, gatherDue, planSweep } from './plan.js'

const [one, other, treasury] = [addressOf(1), addressOf(2), addressOf(3)]
const terms = { treasury, minAmount: 100n, intervalMs: 60_000, paymentsMax: 3 }

const feeOf = (seed: number, changes: Partial<DueFee> = {}): DueFee => ({
  nonce: nonceOf(seed),
  recipient: one,
  amount: units(50n),
  treasury,
  since: seconds(1_000 + seed),
  fromBlock: 1n,
  ...changes,
})

async function* listed(fees: readonly DueFee[]) {
  yield* fees
}

async function plan(fees: readonly DueFee[], nowSeconds: number, isHurried = false) {
  const { due } = await gatherDue(listed(fees), terms)
  const planned = planSweep(due, terms, { nowMs: nowSeconds * 1000, isHurried })
  return typeof planned === 'string' ? planned : planned.sweep
}

describe('the next sweep', () => {
  it('waits until the oldest fee is old enough and the sum is worth its gas', async () => {
    expect(await plan([], 9_999)).toBe('nothing_due')
    expect(await plan([feeOf(1)], 9_999)).toBe('too_little')
    expect(await plan([feeOf(1), feeOf(2)], 1_060)).toBe('too_young')
    const both = { recipient: one, amount: 100n, challengeNonces: [nonceOf(1), nonceOf(2)] }
    expect(await plan([feeOf(1), feeOf(2)], 1_061)).toEqual(both)
    expect(await plan([feeOf(1), feeOf(2)], 1_002, true)).toEqual(both)
    expect(await plan([feeOf(1)], 1_002, true)).toBe('too_little')
  })

  it('takes the oldest fees when there are more than fit, and waits no longer then', async () => {
    const fees = [5, 3, 1, 4, 2].map((seed) => feeOf(seed))
    expect(await plan(fees, 1_006)).toEqual({
      recipient: one,
      amount: 150n,
      challengeNonces: [1, 2, 3].map(nonceOf),
    })
  })

  it('has one recipient: the one that waits longest', async () => {
    const fees = [feeOf(2), feeOf(3), feeOf(1, { recipient: other, amount: units(100n) })]
    expect(await plan(fees, 9_999)).toEqual({ recipient: other, amount: 100n, challengeNonces: [nonceOf(1)] })
  })

  it('leaves fees that were minted to another account, and says how much they are', async () => {
    const fees = [feeOf(1), feeOf(2, { treasury: addressOf(9), amount: units(7n) })]
    const { due, elsewhere } = await gatherDue(listed(fees), terms)
    expect(due).toMatchObject([{ payments: 1, amount: 50n, sweep: { challengeNonces: [nonceOf(1)] } }])
    expect(elsewhere).toEqual({ payments: 1, amount: 7n })
  })
})

describe('fees that a transfer pays', () => {
  it('are the oldest, the last perhaps in part', () => {
    const fees = [1, 2, 3].map((seed) => feeOf(seed))
    const seedsOf = (value: bigint) => coveredBy(value, fees).length
    expect([0n, 1n, 50n, 51n, 100n, 101n, 150n, 999n].map(seedsOf)).toEqual([0, 1, 1, 2, 2, 3, 3, 3])
  })
})
