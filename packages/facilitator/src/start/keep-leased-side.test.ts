import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { until } from '../../../../test/support/until.js'
import type { Lease, Leases } from '../store/lease.js'
import type { LogEvent } from '../telemetry/events.js'
import { keepLeasedSide } from './keep-leased-side.js'
import type { LeasedSide } from './leased-side.js'

/** A lease that the test gives and takes away. Released, it is free again, or taken by another daemon. */
function createLeases(isTakenOver: boolean, locked: number) {
  let lockedLooks = locked
  let isFree = false
  let losing = new AbortController()
  let term = 0
  const leases: Leases = {
    holder: 'this test',
    async take(name) {
      if (lockedLooks-- > 0) throw new Error('canceling statement due to statement timeout')
      if (!isFree) return undefined
      isFree = false
      losing = new AbortController()
      term += 1
      const lease: Lease = {
        fence: { name, term },
        lost: losing.signal,
        release: async () => {
          isFree = !isTakenOver
        },
      }
      return lease
    },
  }
  return {
    leases,
    offer: () => {
      isFree = true
    },
    term: () => term,
    takeAway: () => losing.abort(),
  }
}

async function setup(
  isOffered: boolean,
  { isCopy = false, failures = 0, isTakenOver = false, locked = 0 } = {},
) {
  const { leases, offer, term, takeAway } = createLeases(isTakenOver, locked)
  if (isOffered) offer()
  const done: string[] = []
  const begun: string[] = []
  /** The terms under which copies were accepted. */
  const accepting: number[] = []
  const events: LogEvent['event'][] = []
  let left = failures
  let isOld = false
  const make = async (active: Lease | undefined): Promise<LeasedSide> => {
    const name = active ? 'works' : 'rests'
    return {
      resume: async () => {
        if (left-- > 0) throw new Error('the node is away')
        done.push(name)
      },
      startLoops: () => void begun.push(name),
      drain: async () => undefined,
      // The last of what it signed is still being written.
      async close() {
        await setTimeout(20)
        done.push(`no longer ${name}`)
      },
    } as unknown as LeasedSide
  }
  const keeper = await keepLeasedSide({
    leases,
    pollMs: 500,
    make,
    isCopy,
    isOld: () => isOld,
    acceptCopy: async ({ fence }) => {
      isOld = false
      accepting.push(fence?.term ?? 0)
      done.push('accepted a copy')
    },
    clock: movableClock(),
    log: ({ event }) => void events.push(event),
  })
  keeper.start()
  onTestFinished(() => keeper.drain().then(keeper.close))
  return {
    keeper,
    leases,
    done,
    begun,
    accepting,
    events,
    term,
    offer,
    takeAway,
    growOld: () => {
      isOld = true
    },
  }
}

describe('the leased side of a daemon', () => {
  it('works when nobody else does', async () => {
    const { keeper, done, events } = await setup(true)
    expect(done).toEqual(['works'])
    expect(keeper.isActive()).toBe(true)
    expect(events).toEqual(['active.taken'])
  })

  it('rests while another one works, and takes over once the lease is free', async () => {
    const { keeper, done, offer } = await setup(false)
    expect(keeper.isActive()).toBe(false)
    offer()
    await until(async () => keeper.isActive())
    expect(done).toEqual(['no longer rests', 'works'])
  })

  it('waits, and says so, while a daemon that is frozen in a transaction has the ledger', async () => {
    const { keeper, events, done } = await setup(true, { locked: 2 })
    expect([keeper.isActive(), events]).toEqual([false, ['work.failed']])
    await until(async () => keeper.isActive())
    expect(done).toEqual(['no longer rests', 'works'])
  })

  it('is handed over before it ends: put down, and only then free for another daemon', async () => {
    const { keeper, done, leases } = await setup(true)
    const handingOver = keeper.handOver()
    expect(await leases.take('active')).toBeUndefined()
    await handingOver
    expect([keeper.isActive(), done]).toEqual([false, ['works', 'no longer works']])
    expect(await leases.take('active')).toBeDefined()
  })

  it('puts down what it lost, to the end, and only then goes on', async () => {
    const { keeper, done, begun, events, takeAway } = await setup(true)
    takeAway()
    await until(async () => begun.length === 2)
    expect(done).toEqual(['works', 'no longer works'])
    expect(begun).toEqual(['works', 'rests'])
    expect(keeper.isActive()).toBe(false)
    expect(events).toEqual(['active.taken', 'active.lost'])
  })

  it('tries again when it could not take the work up', async () => {
    const { keeper, done, offer } = await setup(false, { failures: 2 })
    offer()
    await until(async () => keeper.isActive())
    expect(done.at(-1)).toBe('works')
  })

  it('rests in order when another daemon takes up what it could not', async () => {
    const { begun, offer } = await setup(false, { failures: 1, isTakenOver: true })
    offer()
    await until(async () => begun.length === 2)
    expect(begun).toEqual(['rests', 'rests'])
  })

  it('accepts a copy before anything else, also one that turns out to be one later', async () => {
    const { done, growOld } = await setup(true, { isCopy: true })
    expect(done).toEqual(['accepted a copy', 'works'])
    growOld()
    await until(async () => done.length === 5)
    expect(done.slice(2)).toEqual(['accepted a copy', 'no longer works', 'works'])
  })

  it('accepts a copy under a new term, so that nothing of before is recorded in it', async () => {
    const { accepting, growOld, keeper, term } = await setup(true)
    const before = term()
    growOld()
    await until(async () => accepting.length > 0)
    expect(accepting).toEqual([term()])
    expect(term()).toBeGreaterThan(before)
    await until(async () => keeper.isActive())
  })
})
