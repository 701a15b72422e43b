import { describe, expect, it } from 'vitest'
import { factorWanted } from './print.js'
import { compareModes, playReturning, playSurrounded, type Settings } from './scenarios.js'

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

  it('are named by sixty whole payments around one: soon from many accounts, after the longest wait from one', () => {
    const [one, many] = playSurrounded({ ...settings, traffic: { ...settings.traffic, payments: 100 } })
    expect([one?.cost, many?.cost]).toEqual([600_000n, 600_000n])
    const hour = 3_600
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
