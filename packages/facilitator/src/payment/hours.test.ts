import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createHourBooks } from './hours.js'

const day = 86_400
const nothing = { payments: 0, amount: 0n }

it('asks day by day, and once for days that are over', async () => {
  const asked: number[] = []
  const hours = createHourBooks({
    books: {
      async hours(since) {
        asked.push(since / day)
        return [0, 7_200].map((at) => ({ at: since + at, accepted: nothing, fees: 0n, finalized: nothing }))
      },
    },
    clock: stoppedClock((10 * day + 600) * 1000),
    daysMax: 5,
  })
  const look = async () => (await hours(7 * day + 3_600, 10 * day + 3_600)).map(({ at }) => at / 3_600)
  const all = [7 * 24 + 2, 8 * 24, 8 * 24 + 2, 9 * 24, 9 * 24 + 2, 10 * 24]
  expect(await look()).toEqual(all)
  expect(await look()).toEqual(all)
  // A reorg can still change yesterday.
  expect(asked).toEqual([7, 8, 9, 10, 9, 10])
})
