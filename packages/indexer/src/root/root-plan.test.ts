import { rootBatches } from '@svc-zerc20/zk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planAhead, planRoot, type RootPlan, type StepMs } from './root-plan.js'

const measured: StepMs = { 'root-16': 10, 'root-64': 20 }

function planAll(from: number, target: number, stepMs: StepMs): RootPlan[] {
  const plans: RootPlan[] = []
  for (let at = from; at < target; ) {
    const plan = planRoot(at, target, stepMs)
    plans.push(plan)
    at = plan.newIndex
  }
  return plans
}

/** The least time by trying every sequence of furthest steps. */
function leastMs(from: number, target: number, stepMs: StepMs): number {
  if (from >= target) return 0
  const after = (width: number) => Math.min(target, (Math.floor(from / width) + 1) * width)
  return Math.min(
    stepMs['root-16'] + leastMs(after(16), target, stepMs),
    stepMs['root-64'] + leastMs(after(64), target, stepMs),
  )
}

describe('the plan of root proofs', () => {
  test.each([
    [0, 1, 'root-16', 1],
    [0, 16, 'root-16', 16],
    [3, 16, 'root-16', 16],
    [15, 17, 'root-16', 16],
    [0, 32, 'root-16', 16],
    [0, 33, 'root-64', 33],
    [6, 76, 'root-64', 64],
    [60, 200, 'root-16', 64],
  ] as const)('from %i to %i: %s up to %i', (oldIndex, target, circuit, newIndex) => {
    expect(planRoot(oldIndex, target, measured)).toEqual({ circuit, oldIndex, newIndex })
  })

  test('a whole subtree takes one large proof, also when the last one took very long', () => {
    const slow: StepMs = { 'root-16': 10, 'root-64': 50 }
    expect(planRoot(64, 200, slow)).toEqual({ circuit: 'root-64', oldIndex: 64, newIndex: 128 })
    expect(planRoot(65, 200, slow)).toEqual({ circuit: 'root-16', oldIndex: 65, newIndex: 80 })
  })

  test.each([
    [64, 300, 2, [64, 128]],
    [64, 300, 9, [64, 128, 192]],
    [64, 127, 2, []],
    [64, 128, 2, [64]],
    [70, 300, 2, []],
  ])(
    'behind %i, up to %i, at most %i steps are sure to come: those from %j',
    (newIndex, target, count, from) => {
      const steps = planAhead({ circuit: 'root-64', oldIndex: 0, newIndex }, target, count)
      expect(steps).toEqual(from.map((oldIndex) => planRoot(oldIndex, target, measured)))
      expect(steps.map(({ oldIndex }) => oldIndex)).toEqual(from)
    },
  )

  test('takes the least time, and no step leaves the aligned subtree of its batch', () => {
    const ms = fc.integer({ min: 1, max: 100 })
    fc.assert(
      fc.property(fc.nat(200), fc.integer({ min: 1, max: 200 }), ms, ms, (from, count, small, large) => {
        // One large proof is never slower than the four small ones of its subtree.
        fc.pre(large <= 4 * small)
        const stepMs = { 'root-16': small, 'root-64': large }
        const plans = planAll(from, from + count, stepMs)
        for (const { circuit, oldIndex, newIndex } of plans) {
          const width = rootBatches[circuit]
          expect(newIndex).toBeGreaterThan(oldIndex)
          expect((oldIndex % width) + newIndex - oldIndex).toBeLessThanOrEqual(width)
        }
        expect(plans.at(-1)?.newIndex).toBe(from + count)
        const total = plans.reduce((sum, { circuit }) => sum + stepMs[circuit], 0)
        expect(total).toBe(leastMs(from, from + count, stepMs))
      }),
    )
  })
})
