import { describe, expect, it } from 'vitest'
import { factorWanted } from './print.js'
import { compareModes, playReturning, type Settings, surround } from './scenarios.js'

const settings: Settings = {
  seed: '1',
  traffic: { payments: 200, prices: [10_000n, 50_000n, 250_000n], perMinute: 2 },
  facilitators: 5,
  delaysSeconds: [60],
  batches: { epochSeconds: 86_400, least: 20, floor: 10_000n, waitMaxSeconds: 21_600, jitterSeconds: 600 },
}

describe('200 payments at three price points', () => {
  it('are linked at least ten times less often in batches than one by one without delay', () => {
    const { single, batch, factor } = compareModes(settings)
    // A weak observer would prove nothing: alone, one by one and at once, nearly every payment is linked.
    expect(single.score.linked).toBeGreaterThan(0.9)
    expect(single.score.company.median).toBe(1)
    expect(factor).toBeGreaterThanOrEqual(factorWanted)
    // The observer is no weaker against batches: it knows which batch paid nearly every burn.
    expect(batch.score.mintNamed).toBeGreaterThan(0.9)
    expect(batch.score.payments).toBe(200)
  })

  it('are named, in batches too, where their payers come back to the same provider', () => {
    for (const { score } of playReturning(settings)) expect(score.recipientNamed).toBeGreaterThan(0.9)
  })

  it('are named by whole payments around one, and as few as thirty: a price, which rises, and no wall', () => {
    const fewer = { ...settings, traffic: { ...settings.traffic, payments: 100 } }
    const few = surround(fewer, { each: 15, accounts: 20 })
    expect([few.cost, few.runs]).toEqual([300_000n, 20])
    expect(few.named).toBeGreaterThan(0)
    expect(few.named).toBeLessThan(12)
    const hour = 3_600
    const [one, many] = [1, 20].map((accounts) => surround(fewer, { each: 30, accounts }))
    expect([one?.cost, many?.cost]).toEqual([600_000n, 600_000n])
    // Soon from as many accounts as are company for each other, after the longest wait from one.
    expect(one?.afterSeconds).toBeGreaterThan(5 * hour)
    expect(many?.afterSeconds).toBeLessThan(hour)
    expect(many?.named).toBe(many?.runs)
  })

  it('hide badly in batches of one or two, which few payments give', () => {
    const few = { ...settings, traffic: { ...settings.traffic, payments: 40, perMinute: 0.1 } }
    const { batch } = compareModes({ ...few, batches: { ...settings.batches, least: 1 } })
    expect(batch.score.linked).toBeGreaterThan(0.4)
  })
})
