import { readdirSync } from 'node:fs'
import { platform } from 'node:process'
import { expect, test } from 'vitest'
import { createEngine } from './engine.js'

/** Linux alone tells it. */
const threads = () => readdirSync('/proc/self/task').length

test.runIf(platform === 'linux')('a hundred requests at once take one thread, not a hundred', async () => {
  const engine = await createEngine({ chainId: 31_337, time: 1_700_000_000, balances: [] })
  await engine.request('eth_chainId')
  const before = threads()
  const answers = Array.from({ length: 100 }, () => engine.request('eth_chainId'))
  let most = 0
  for (const answer of answers) {
    await answer
    most = Math.max(most, threads())
  }
  expect(most - before).toBeLessThan(10)
})

test('a request that the engine refuses keeps nobody behind it from an answer', async () => {
  const engine = await createEngine({ chainId: 31_337, time: 1_700_000_000, balances: [] })
  const refused = engine.request('eth_unknown')
  const answered = engine.request('eth_blockNumber')
  await expect(refused).rejects.toThrow()
  expect(await answered).toBe('0x0')
})
