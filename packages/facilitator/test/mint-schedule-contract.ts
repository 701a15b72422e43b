/** Tests that every mint schedule must pass, whatever its storage. */
import { describe, expect, it } from 'vitest'
import type { MintSchedule } from '../src/payment/finalize/schedule.js'
import { nonceOf } from './challenges.js'

export type ScheduleUnderTest = { readonly schedule: MintSchedule; advance(ms: number): void }

export type ScheduleSettings = {
  readonly delayMs: () => number
  readonly retryMs: { readonly first: number; readonly max: number }
}

const [a, b] = [nonceOf(1), nonceOf(2)]

export function describeMintSchedule(
  name: string,
  open: (settings: ScheduleSettings) => ScheduleUnderTest,
): void {
  const retryMs = { first: 100, max: 300 }

  describe(`a mint schedule ${name}`, () => {
    it('holds each payment back for the delay that the first question about it drew', async () => {
      const delays = [50, 80]
      const { schedule, advance } = open({ retryMs, delayMs: () => delays.shift() ?? 1_000 })
      expect(await schedule.turns([a, b])).toEqual(['delayed', 'delayed'])
      advance(50)
      expect(await schedule.turns([b, a])).toEqual(['delayed', 'due'])
      advance(30)
      expect(await schedule.turns([a, b])).toEqual(['due', 'due'])
    })

    it('lets a payment rest after a failure, longer each time up to the bound', async () => {
      const { schedule, advance } = open({ retryMs, delayMs: () => 0 })
      for (const [i, restMs] of [100, 200, 300, 300].entries()) {
        await schedule.failed(a)
        expect(await schedule.failures(a)).toBe(i + 1)
        advance(restMs - 1)
        expect([await schedule.turns([a, b]), await schedule.isResting(a)]).toEqual([
          ['resting', 'due'],
          true,
        ])
        advance(1)
        expect([await schedule.turns([a]), await schedule.isResting(a)]).toEqual([['due'], false])
      }
    })

    it('counts failures from zero after a success, and the delay stays over', async () => {
      const { schedule, advance } = open({ retryMs, delayMs: () => 50 })
      await schedule.turns([a])
      advance(50)
      await schedule.failed(a)
      await schedule.succeeded(a)
      expect([await schedule.failures(a), await schedule.turns([a])]).toEqual([0, ['due']])
    })

    it('has a payment due at once when it is hastened', async () => {
      const { schedule } = open({ retryMs, delayMs: () => 50 })
      await schedule.turns([a])
      await schedule.failed(a)
      await schedule.hasten(a)
      expect(await schedule.turns([a])).toEqual(['due'])
    })

    it('begins again with a payment that was forgotten, and says whether one rests without beginning', async () => {
      const { schedule, advance } = open({ retryMs, delayMs: () => 50 })
      await schedule.turns([a])
      await schedule.failed(a)
      await schedule.forget(a)
      advance(50)
      expect([await schedule.isResting(a), await schedule.failures(a)]).toEqual([false, 0])
      expect(await schedule.turns([a])).toEqual(['delayed'])
    })
  })
}
