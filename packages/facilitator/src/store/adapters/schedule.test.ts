import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { burnOf, challengeOf, nonceOf, permitPayloadOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { describeMintSchedule } from '../../../test/mint-schedule-contract.js'
import { createMemoryStore, openTestStore } from '../../../test/store.js'
import type { Ledger } from '../../payment/ledger-port.js'
import { createMintSchedule } from './schedule.js'

async function accept(ledger: Pick<Ledger, 'issue' | 'claim' | 'accept'>, seed: number): Promise<void> {
  const challenge = challengeOf(seed)
  await ledger.issue(challenge)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  await ledger.accept(challenge.nonce, burnOf(seed))
}

describeMintSchedule('in the store', (settings) => {
  const clock = stoppedClock()
  const { store, ledger } = createMemoryStore(clock)
  return {
    schedule: createMintSchedule({ store, clock, ...settings }),
    advance: clock.advance,
    async accept(...seeds) {
      for (const seed of seeds) await accept(ledger, seed)
    },
  }
})

it('a delay that was drawn is the same after a restart', async () => {
  const path = join(temporaryFolder(), 'journal')
  const clock = stoppedClock()
  const retryMs = { first: 100, max: 100 }
  const first = await openTestStore({ isThreaded: true, path }, clock)
  await accept(first.ledger, 1)
  const drawn = createMintSchedule({ store: first.store, clock, delayMs: () => 5_000, retryMs })
  expect((await drawn.plan(10)).delayed).toEqual([nonceOf(1)])
  await first.close()
  const second = await openTestStore({ isThreaded: true, path }, clock)
  const again = createMintSchedule({ store: second.store, clock, delayMs: () => 0, retryMs })
  expect((await again.plan(10)).delayed).toEqual([nonceOf(1)])
  clock.advance(5_000)
  expect(await again.plan(10)).toMatchObject({ due: [{ challenge: { nonce: nonceOf(1) } }], delayed: [] })
  await second.close()
})
