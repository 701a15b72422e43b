import { describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { nonceOf } from '../../../test/challenges.js'
import { pauseMs, startFinalizeLoop } from './loop.js'
import type { MintStep, RoundEnd } from './progress.js'

const periodMs = 15_000
const pace = { periodMs, backOffMaxMs: 10 * periodMs }
const ended = (...steps: MintStep[]): RoundEnd => new Map(steps.map((step, i) => [nonceOf(i), step]))

/** A loop whose rounds end as scripted and whose pauses the test sees and ends. */
function startLoop(script: (RoundEnd | Error)[]) {
  const pauses: number[] = []
  const confirmMs = 2_000
  const reported: string[] = []
  const confirmed: number[] = []
  let endPause: () => void = () => undefined
  let onPause: () => void = () => undefined
  const loop = startFinalizeLoop({
    ...pace,
    finalize: {
      async round() {
        const end = script.shift() ?? ended()
        if (end instanceof Error) throw end
        return end
      },
      async confirm() {
        confirmed.push(script.length)
      },
    },
    clock: {
      now: () => 0,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          if (ms === confirmMs) return signal?.addEventListener('abort', () => resolve())
          endPause = resolve
          signal?.addEventListener('abort', () => resolve())
          pauses.push(ms)
          onPause()
        }),
    },
    report: ({ event }) => reported.push(event),
  })
  const paused = (count: number) =>
    new Promise<void>((resolve) => {
      onPause = () => (pauses.length >= count ? resolve() : endPause())
      if (pauses.length > 0) onPause()
    })
  return { loop, pauses, reported, confirmed, paused }
}

describe('the pause before the next round', () => {
  it('R-070 is one period, and grows with failures to at most ten', () => {
    expect([0, 1, 2, 3, 4, 50].map((failures) => pauseMs(pace, failures, 0) / periodMs)).toEqual([
      1, 2, 4, 8, 10, 10,
    ])
  })

  it('is short after a round that got somewhere, and never longer than the period', () => {
    expect(pauseMs(pace, 0, 1)).toBe(1_000)
    expect(pauseMs({ periodMs: 500, backOffMaxMs: 5_000 }, 0, 1)).toBe(500)
  })
})

describe('the loop', () => {
  it('backs off while everything fails, and forgets that after a round that got somewhere', async () => {
    const { loop, pauses, reported, paused } = startLoop([
      new Error('no node'),
      ended('failed'),
      ended('failed', 'confirming'),
      ended('failed', 'mined'),
      ended('failed'),
      ended('root_behind', 'verifier_paused', 'burn_lost'),
    ])
    await paused(6)
    await loop.stop()
    expect(pauses.map((ms) => ms / periodMs)).toEqual([2, 4, 8, 1 / 15, 2, 1])
    expect(reported).toEqual(['finalize.failed'])
  })

  it('looks whether mints are deep enough right after a round that mined some, and not after others', async () => {
    const { loop, confirmed, paused } = startLoop([ended('confirming'), ended('mined'), ended('root_behind')])
    await paused(3)
    await until(() => confirmed.length === 2)
    await loop.stop()
    expect(confirmed[0]).toBe(3)
  })

  it('goes on at once when it is woken, also when that was during a round', async () => {
    const { loop, pauses, paused } = startLoop([])
    // The first round is under way: its pause is left out.
    loop.wake()
    await paused(1)
    expect(pauses).toEqual([periodMs])
    loop.wake()
    await new Promise((resolve) => setImmediate(resolve))
    expect(pauses).toEqual([periodMs, periodMs])
    await loop.stop()
  })

  it('records mints that are deep while a round is still proving', async () => {
    let confirmed = 0
    let endRound: (end: RoundEnd) => void = () => undefined
    const loop = startFinalizeLoop({
      ...pace,
      finalize: {
        round: () =>
          new Promise((resolve) => {
            endRound = resolve
          }),
        async confirm() {
          confirmed += 1
          if (confirmed === 1) throw new Error('no node')
        },
      },
      clock: { now: () => 0, sleep: () => new Promise((resolve) => setImmediate(resolve)) },
      report: () => undefined,
    })
    await until(() => confirmed >= 3)
    const stopped = loop.stop()
    endRound(ended())
    await stopped
  })
})
