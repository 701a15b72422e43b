import { expect, it } from 'vitest'
import type { Arrivals } from './arrivals.js'
import type { Figures, PooledCell } from './figures.js'
import { quickPlan } from './plan.js'
import { limitTargets, type Target, targetsOf } from './verdict.js'

const cell = (p50Ms: number) =>
  ({ concurrency: 1, payments: 5, succeeded: 5, perSecond: 1, p50Ms, rpcCallsEach: 11 }) as PooledCell
const figures = (verifyMs: number, settleMs: number): Figures => ({
  verify: [cell(verifyMs)],
  settle: [cell(settleMs)],
  duplicates: [],
})
const row = (offeredPerSecond: number, more: Partial<Arrivals> = {}): Arrivals => ({
  name: 'ours',
  offeredPerSecond,
  payments: 100,
  acceptedPerSecond: offeredPerSecond,
  p50Ms: 600,
  p99Ms: 1000,
  failures: {},
  lost: 0,
  verifyCpuMs: 1,
  settleCpuMs: 2,
  ...more,
})
const times = { p50Ms: 1, p99Ms: 2 }
const challenges = { ...times, inside: times, disk: times }
const named = (targets: readonly Target[], words: string) =>
  targets.find(({ name }) => name.includes(words)) ?? expect.fail(`no target names "${words}"`)

it('a verify alone and a settle alone are judged by the times of the reference', () => {
  const judged = (verifyMs: number, settleMs: number) => {
    const targets = targetsOf(figures(verifyMs, settleMs), figures(10, 500), quickPlan)
    return ['verify alone', 'settle alone, p50'].map((words) => named(targets, words).met)
  }
  expect(judged(3, 505)).toEqual([true, true])
  expect(judged(3.1, 506)).toEqual([false, false])
})

it('a run that offered too little says so instead of a verdict', () => {
  const targets = limitTargets({ arrivals: [row(50)], overload: undefined, challenges })
  for (const words of ['350 payments a second', 'at 150 a second']) {
    expect(named(targets, words)).toMatchObject({ reached: expect.stringContaining('did not offer') })
    expect(named(targets, words)).not.toHaveProperty('met')
  }
  const saturation = targetsOf(figures(1, 1), figures(1, 1), quickPlan)
  expect(named(saturation, 'settle accepted/s').reached).toContain('too few at once')
})

it('under too much load none is reset, and none that was told success is lost', () => {
  const judged = (overload: Partial<Arrivals>) =>
    named(
      limitTargets({ arrivals: [row(300)], overload: row(900, overload), challenges }),
      '3 times that much',
    ).met
  const good = { acceptedPerSecond: 270, failures: { overloaded: 60 }, p99Ms: 5_900 }
  expect(judged(good)).toBe(true)
  expect(judged({ ...good, lost: 1 })).toBe(false)
  expect(judged({ ...good, failures: { overloaded: 59, ECONNRESET: 1 } })).toBe(false)
  expect(judged({ ...good, p99Ms: 6_000 })).toBe(false)
  expect(judged({ ...good, acceptedPerSecond: 269 })).toBe(false)
})
