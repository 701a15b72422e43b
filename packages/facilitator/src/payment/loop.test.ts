import { expect, it } from 'vitest'
import { startLoop } from './loop.js'

it('a round that fails is told of and tried again, later each time up to the bound', async () => {
  const failure = new Error('no node')
  const ends = [undefined, failure, failure, failure, 7, failure]
  const pauses: number[] = []
  const failures: unknown[] = []
  await new Promise<void>((resolve) => {
    const loop = startLoop({
      async round() {
        const end = ends[pauses.length]
        if (end instanceof Error) throw end
        return end as number
      },
      clock: {
        async sleep(ms) {
          pauses.push(ms)
          await new Promise(setImmediate)
          if (pauses.length === ends.length) void loop.stop().then(resolve)
        },
      },
      periodMs: 10,
      backOffMaxMs: 25,
      onFailure: (err) => failures.push(err),
    })
  })
  expect(pauses).toEqual([10, 10, 20, 25, 7, 10])
  expect(failures).toEqual(Array(4).fill(failure))
})
