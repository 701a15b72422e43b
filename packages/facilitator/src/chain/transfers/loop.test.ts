import { expect, it } from 'vitest'
import { startTransferLoop } from './round.js'

const ended = (...failures: readonly Error[]) => failures

/** Runs the loop over these rounds, without waiting; says how long it paused after each and what failed. */
async function run(rounds: readonly (readonly Error[] | Error)[]) {
  const left = [...rounds]
  const pauses: number[] = []
  const failures: unknown[] = []
  let onDone: () => void = () => undefined
  const done = new Promise<void>((resolve) => {
    onDone = resolve
  })
  const loop = startTransferLoop({
    async round() {
      const end = left.shift() ?? ended()
      if (end instanceof Error) throw end
      return end
    },
    clock: {
      now: () => 0,
      async sleep(ms) {
        pauses.push(ms)
        if (left.length === 0) onDone()
        await new Promise(setImmediate)
      },
    },
    periodMs: 10,
    backOffMaxMs: 25,
    onFailure: (err) => failures.push(err),
  })
  await done
  await loop.stop()
  return { pauses: pauses.slice(0, rounds.length), failures }
}

it('a round that fails is told of and tried again, later each time up to the bound', async () => {
  const [first, second] = [new Error('no node'), new Error('no disk')]
  const { pauses, failures } = await run([ended(), first, first, ended(second), ended()])
  expect(pauses).toEqual([10, 10, 20, 25, 10])
  expect(failures).toEqual([first, first, second])
})

it('several failures of one round are told of as one', async () => {
  const { failures } = await run([ended(new Error('a'), new Error('b'), new Error('c'))])
  expect(failures).toMatchObject([
    { message: 'Error: a, and 2 more', errors: [{ message: 'a' }, { message: 'b' }, { message: 'c' }] },
  ])
})
