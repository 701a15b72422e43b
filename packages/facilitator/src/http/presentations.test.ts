import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { nonceOf } from '../../test/challenges.js'
import { createCallers } from './callers.js'
import { createPresentations, type Standing } from './presentations.js'
import { createRateLimits } from './rate-limit.js'

const [ratePerMin, knownPerMinMin, missesPerKnown] = [2, 3, 2]
const missesMax = knownPerMinMin * missesPerKnown

function setup() {
  const clock = stoppedClock()
  const rateLimits = createRateLimits({ keysMax: 10, clock })
  const { of } = createCallers({
    sellers: [],
    strangers: { ratePerMin, issuancePerMin: 1 },
    knownPerMinMin,
    missesPerKnown,
    rateLimits,
    onUnknownToken: () => undefined,
  })
  const presentations = createPresentations({ surePerMin: 1, furtherPerMin: 1, rateLimits })
  let looks = 0
  return {
    clock,
    looks: () => looks,
    async present(standing: Standing, { ip = '192.0.2.1', seed = 1, isTicketed = false } = {}) {
      const admission = await presentations.admit(of({ ip, headers: {} }), {
        nonce: nonceOf(seed),
        isTicketed,
        async look() {
          looks += 1
          return standing
        },
      })
      return admission.ok
    },
  }
}

describe('a payment for a challenge that nobody knows', () => {
  it('is not looked up in the ledger once its caller used up its rate and its misses', async () => {
    const { present, looks, clock } = setup()
    const ends = []
    for (let i = 0; i < 50; i++) ends.push(await present('unknown'))
    expect(ends.filter((isAdmitted) => isAdmitted)).toHaveLength(ratePerMin)
    expect(looks()).toBe(ratePerMin + missesMax)
    // The ticket of an offer says that the challenge is ours, and is looked up all the same.
    expect(await present('awaited', { isTicketed: true })).toBe(true)
    expect(await present('awaited', { seed: 2 })).toBe(false)
    expect(await present('unknown', { ip: '192.0.2.2' })).toBe(true)
    clock.advance(60_000)
    expect(await present('unknown')).toBe(true)
  })

  it('leaves room for payments of known challenges beyond the rate, which cost no miss', async () => {
    const { present, looks } = setup()
    for (let i = 0; i < ratePerMin; i++) await present('unknown')
    for (let seed = 1; seed <= missesMax * 2; seed++) {
      expect(await present('awaited', { seed })).toBe(true)
    }
    expect(looks()).toBe(ratePerMin + missesMax * 2)
  })
})

describe('a payment with the ticket of its offer', () => {
  it('is looked up only while its challenge or its caller has room', async () => {
    const { present, looks, clock } = setup()
    const ends = []
    for (let i = 0; i < 50; i++) ends.push(await present('awaited', { isTicketed: true }))
    // One for sure, one further, and the caller's own rate beyond that.
    expect(ends.filter((isAdmitted) => isAdmitted)).toHaveLength(2 + ratePerMin)
    expect(looks()).toBe(2 + ratePerMin)
    // Another challenge has room of its own.
    expect(await present('awaited', { isTicketed: true, seed: 2 })).toBe(true)
    clock.advance(60_000)
    expect(await present('awaited', { isTicketed: true })).toBe(true)
  })

  it('for which somebody was served counts for its caller as one without a ticket does', async () => {
    const { present, looks } = setup()
    const ends = []
    for (let i = 0; i < 50; i++) ends.push(await present('known', { isTicketed: true }))
    expect(ends.filter((isAdmitted) => isAdmitted)).toHaveLength(ratePerMin)
    expect(looks()).toBe(ratePerMin)
  })
})
