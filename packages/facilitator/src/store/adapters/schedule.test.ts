import { join } from 'node:path'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { burnOf, challengeOf, nonceOf, permitPayloadOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { createMemoryStore, openTestStore } from '../../../test/store.js'
import type { MintSchedule } from '../../payment/finalize/ports.js'
import type { Ledger } from '../../payment/ledger-port.js'
import { createMintSchedule } from './schedule.js'

async function accept(ledger: Pick<Ledger, 'issue' | 'claim' | 'accept'>, seed: number): Promise<void> {
  const challenge = challengeOf(seed)
  await ledger.issue(challenge)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  await ledger.accept(challenge.nonce, burnOf(seed))
}

function open(settings: Pick<Parameters<typeof createMintSchedule>[0], 'delayMs' | 'retryMs'>) {
  const clock = stoppedClock()
  const { store, ledger } = createMemoryStore(clock)
  return {
    schedule: createMintSchedule({ store, clock, chance: () => 0, ...settings }),
    advance: clock.advance,
    async accept(...seeds: number[]) {
      for (const seed of seeds) await accept(ledger, seed)
    },
  }
}

const [a, b] = [nonceOf(1), nonceOf(2)]

/** The payments that are due, and those that are delayed. */
async function planned(
  schedule: MintSchedule,
  countMax = 10,
): Promise<readonly (readonly ChallengeNonce[])[]> {
  const { due, delayed } = await schedule.plan(countMax)
  return [due.map(({ challenge }) => challenge.nonce), delayed]
}

const retryMs = { first: 100, max: 300 }

describe('the mint schedule', () => {
  it('holds each payment back for the delay that the first look at it drew', async () => {
    const delays = [50, 80]
    const { schedule, accept, advance } = open({ retryMs, delayMs: () => delays.shift() ?? 1_000 })
    await accept(1, 2)
    expect(await planned(schedule)).toEqual([[], [a, b]])
    advance(50)
    expect(await planned(schedule)).toEqual([[a], [b]])
    advance(30)
    expect(await planned(schedule)).toEqual([[a, b], []])
  })

  it('names no more than it is asked for, oldest first, and begins the delays of the others', async () => {
    const { schedule, accept, advance } = open({ retryMs, delayMs: () => 50 })
    await accept(2, 1)
    await planned(schedule, 1)
    advance(50)
    expect(await planned(schedule, 1)).toEqual([[b], []])
    expect(await planned(schedule)).toEqual([[b, a], []])
  })

  it('lets a payment rest after a failure, longer each time up to the bound', async () => {
    const { schedule, accept, advance } = open({ retryMs, delayMs: () => 0 })
    await accept(1, 2)
    for (const [i, restMs] of [100, 200, 300, 300].entries()) {
      await schedule.failed(a)
      advance(restMs - 1)
      expect(await schedule.failuresOf(a)).toEqual({ count: i + 1, isResting: true })
      expect(await planned(schedule)).toEqual([[b], []])
      advance(1)
      expect(await schedule.failuresOf(a)).toEqual({ count: i + 1, isResting: false })
      expect(await planned(schedule)).toEqual([[a, b], []])
    }
  })

  it('counts failures from zero after a success, and the delay stays over', async () => {
    const { schedule, accept, advance } = open({ retryMs, delayMs: () => 50 })
    await accept(1)
    await planned(schedule)
    advance(50)
    await schedule.failed(a)
    await schedule.succeeded(a)
    expect([(await schedule.failuresOf(a)).count, await planned(schedule)]).toEqual([0, [[a], []]])
  })

  it('has a payment due at once when it is to be minted now', async () => {
    const { schedule, accept } = open({ retryMs, delayMs: () => 50 })
    await accept(1)
    await planned(schedule)
    await schedule.failed(a)
    await schedule.mintNow(a)
    expect(await planned(schedule)).toEqual([[a], []])
  })

  it('begins again with a payment that was forgotten, and tells failures without beginning', async () => {
    const { schedule, accept, advance } = open({ retryMs, delayMs: () => 50 })
    await accept(1)
    await planned(schedule)
    await schedule.failed(a)
    await schedule.forget(a)
    advance(50)
    expect(await schedule.failuresOf(a)).toEqual({ count: 0, isResting: false })
    expect(await planned(schedule)).toEqual([[], [a]])
  })
})

it('what was drawn for a payment and for an epoch is the same after a restart, and so are their rests', async () => {
  const path = join(temporaryFolder(), 'journal')
  const clock = stoppedClock()
  const retryMs = { first: 100, max: 100 }
  const epoch = { treasury: challengeOf(1).treasury, ledger: 'ab', start: 60 }
  const inEpoch = challengeOf(2, { epoch })
  const first = await openTestStore({ isThreaded: true, path }, clock)
  await accept(first.ledger, 1)
  await first.ledger.issue(inEpoch)
  const settings = { store: first.store, clock, retryMs }
  const drawn = createMintSchedule({ ...settings, delayMs: () => 5_000, chance: () => 0.25 })
  expect((await drawn.plan(10)).delayed).toEqual([nonceOf(1)])
  expect(await drawn.turnOf(epoch)).toMatchObject({ isResting: false, asked: new Set() })
  await drawn.setDue(epoch, 7)
  await drawn.failed(epoch)
  await drawn.mintNow(inEpoch.nonce)
  const turn = {
    dueAtMs: 7,
    isResting: true,
    draws: { time: 0.25, place: 0.25 },
    asked: new Set([nonceOf(2)]),
  }
  expect(await drawn.turnOf(epoch)).toEqual(turn)
  await first.close()
  const second = await openTestStore({ isThreaded: true, path }, clock)
  const again = createMintSchedule({ ...settings, store: second.store, delayMs: () => 0, chance: () => 0.5 })
  expect((await again.plan(10)).delayed).toEqual([nonceOf(1)])
  expect(await again.turnOf(epoch)).toEqual(turn)
  await again.forget(epoch)
  expect(await again.turnOf(epoch)).toMatchObject({
    dueAtMs: undefined,
    isResting: false,
    draws: { time: 0.5 },
  })
  clock.advance(5_000)
  expect(await again.plan(10)).toMatchObject({ due: [{ challenge: { nonce: nonceOf(1) } }], delayed: [] })
  await second.close()
})
