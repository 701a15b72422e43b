import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { systemClock } from './system-clock.js'

describe('the system clock', () => {
  it('sleeps as long as it is told', async () => {
    const before = systemClock.now()
    await systemClock.sleep(20)
    // A timer may fire in the millisecond before.
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(19)
  })

  it('wakes when the signal aborts, before the sleep and during it', async () => {
    const waking = new AbortController()
    const asleep = systemClock.sleep(60_000, waking.signal)
    waking.abort()
    await asleep
    await systemClock.sleep(60_000, waking.signal)
  })

  it('leaves nothing on a signal that outlives the sleep', async () => {
    const { signal } = new AbortController()
    await systemClock.sleep(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
