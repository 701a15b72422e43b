import { setImmediate as nextTurn } from 'node:timers/promises'
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
        const { violation, trace, payments: made } = await simulate(seed)
        payments += made
        if (violation !== undefined)
          expect.fail(`${trace.join('\n')}\n\nAgain with: npm run test:sim -- --seed ${seed}`)
        // A history is one turn of the real loop, and what it refers to weakly is kept until the turn ends.
        await nextTurn()
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
