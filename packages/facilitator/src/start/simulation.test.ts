import { describe, expect, it } from 'vitest'
import { simulate } from '../../test/simulation/world.js'

/** `npm run test:sim -- --seeds N` runs more of them, and `-- --seed S` one of them again. */
const first = Number(process.env.SIM_SEED ?? 1)
const seeds = Number(process.env.SIM_SEEDS ?? (process.env.SIM_SEED === undefined ? 200 : 1))

describe('daemons in simulated time, on a simulated chain', () => {
  it(
    `keep every promise in ${seeds} histories of faults`,
    async () => {
      let payments = 0
      for (let seed = first; seed < first + seeds; seed++) {
        const outcome = await simulate(seed)
        payments += outcome.payments
        const told = outcome.trace.join('\n')
        const command = `npm run test:sim -- --seed ${seed}`
        expect.soft(outcome.violation, `${told}\n\nAgain with: ${command}`).toBeUndefined()
        if (outcome.violation !== undefined) break
      }
      expect(payments).toBeGreaterThan(seeds)
    },
    600_000 + seeds * 10_000,
  )

  it('do the same again for the same seed', async () => {
    for (const seed of [first, first + 1, first + 2]) {
      const { fingerprint, events } = await simulate(seed)
      expect(await simulate(seed)).toMatchObject({ fingerprint, events })
    }
  })
})
