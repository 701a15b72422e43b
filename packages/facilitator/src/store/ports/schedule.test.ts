import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { nonceOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { describeMintSchedule } from '../../../test/mint-schedule-contract.js'
import { createMemoryStore, openTestStore } from '../../../test/store.js'
import { createMintSchedule } from './schedule.js'

describeMintSchedule('in the store', (settings) => {
  const clock = stoppedClock()
  const { store } = createMemoryStore(clock)
  return { schedule: createMintSchedule({ store, clock, ...settings }), advance: clock.advance }
})

it('a delay that was drawn is the same after a restart', async () => {
  const path = join(temporaryFolder(), 'journal')
  const clock = stoppedClock()
  const retryMs = { first: 100, max: 100 }
  const first = await openTestStore({ path }, clock)
  const drawn = createMintSchedule({ store: first.store, clock, delayMs: () => 5_000, retryMs })
  expect(await drawn.turns([nonceOf(1)])).toEqual(['delayed'])
  await first.close()
  const second = await openTestStore({ path }, clock)
  const again = createMintSchedule({ store: second.store, clock, delayMs: () => 0, retryMs })
  expect(await again.turns([nonceOf(1)])).toEqual(['delayed'])
  clock.advance(5_000)
  expect(await again.turns([nonceOf(1)])).toEqual(['due'])
  await second.close()
})
