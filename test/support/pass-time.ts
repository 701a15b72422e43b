import type { MovableClock } from './clocks.js'
import { openRequestsTo } from './open-requests.js'
import { until } from './until.js'

/** Ends when this holds, or after so many steps. */
export type End = number | (() => boolean | Promise<boolean>)

/** Somebody who was woken and asks nothing for this long does not go to sleep again. */
const endedMs = 100

/**
 * Moves the time in steps. Before each step everything is at rest: whoever was woken by the step before has looked and
 * sleeps again, the node has answered every request, and the chain has mined what it can. So a slow machine sees the
 * same things between the same steps as a quick one.
 */
export async function passTime(
  world: {
    readonly clock: MovableClock
    readonly chain: { idle(): Promise<void> }
    /** How the code under test reaches the chain, from this process. */
    readonly nodeUrl: string
  },
  stepMs: number,
  end: End,
): Promise<void> {
  const { clock, chain, nodeUrl } = world

  async function rest(asleep: number): Promise<void> {
    let askedMs = performance.now()
    const isAtRest = () => {
      if (openRequestsTo(nodeUrl) === 0) {
        return clock.asleep() >= asleep || performance.now() - askedMs >= endedMs
      }
      askedMs = performance.now()
      return false
    }
    await until(isAtRest, { everyMs: 1 })
    await chain.idle()
  }

  clock.hold()
  try {
    await rest(Number.POSITIVE_INFINITY)
    for (let steps = 0; typeof end === 'number' ? steps < end : !(await end()); steps++) {
      const asleep = clock.asleep()
      clock.pass(stepMs)
      await rest(asleep)
    }
  } finally {
    clock.release()
  }
}
