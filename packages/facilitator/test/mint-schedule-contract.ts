/** Tests that every mint schedule must pass, whatever its storage. */

import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import type { MintSchedule } from '../src/payment/finalize/ports.js'
import { nonceOf } from './challenges.js'

export type ScheduleUnderTest = {
  readonly schedule: MintSchedule
  /** Accepts the payments with these seeds, one after the other. */
  accept(...seeds: number[]): Promise<void>
  advance(ms: number): void
}

export type ScheduleSettings = {
  readonly delayMs: () => number
  readonly retryMs: { readonly first: number; readonly max: number }
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

export function describeMintSchedule(
  name: string,
  open: (settings: ScheduleSettings) => ScheduleUnderTest,
): void {
  const retryMs = { first: 100, max: 300 }

  describe(`a mint schedule ${name}`, () => {
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
}
