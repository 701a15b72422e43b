import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { until } from '../../../../test/support/until.js'
import { addressOf } from '../../test/challenges.js'
import type { Lease, Leases } from '../store/lease.js'
import type { LogEvent } from '../telemetry/events.js'
import { keepLeasedSide } from './keep-leased-side.js'
import type { HeldLeases, LeasedSide } from './leased-side.js'

const account = addressOf(0xb1)

/** Leases that the test gives and takes away. A released lease is free again, or taken by another daemon. */
function createLeases(isTakenOver: boolean) {
  const free = new Set<string>()
  const losing = new Map<string, AbortController>()
  let term = 0
  const terms = new Map<string, number>()
  const leases: Leases = {
    holder: 'this test',
    async take(name) {
      if (!free.delete(name)) return undefined
      const controller = new AbortController()
      losing.set(name, controller)
      term += 1
      terms.set(name, term)
      const lease: Lease = {
        fence: { name, term },
        lost: controller.signal,
        release: async () => void (isTakenOver || free.add(name)),
      }
      return lease
    },
  }
  return {
    leases,
    offer: (name: string) => free.add(name),
    isFree: (name: string) => free.has(name),
    termOf: (name: string) => terms.get(name) ?? 0,
    takeAway: (name: string) => losing.get(name)?.abort(),
  }
}

async function setup(offered: readonly string[], { isCopy = false, failures = 0, isTakenOver = false } = {}) {
  const { leases, offer, isFree, termOf, takeAway } = createLeases(isTakenOver)
  for (const name of offered) offer(name)
  const done: string[] = []
  const begun: string[] = []
  /** The terms of the work under which copies were accepted. */
  const accepting: number[] = []
  const events: LogEvent['event'][] = []
  let left = failures
  let isOld = false
  const make = async ({ send, work }: HeldLeases): Promise<LeasedSide> => {
    const name = [send && 'sends', work && 'works'].filter(Boolean).join(' and ') || 'rests'
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
    account,
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
    done,
    begun,
    accepting,
    events,
    termOf,
    offer,
    isFree,
    takeAway,
    growOld: () => {
      isOld = true
    },
  }
}

const send = `send ${account}`

describe('the leased side of a daemon', () => {
  it('does everything when everything is free', async () => {
    const { keeper, done, events } = await setup([send, 'work'])
    expect(done).toEqual(['sends and works'])
    expect([keeper.isSending(), keeper.isWorking()]).toEqual([true, true])
    expect(events).toEqual(['sending.taken', 'work.taken'])
  })

  it('rests while others do it, and takes each lease up once it is free', async () => {
    const { keeper, done, offer } = await setup([])
    expect([keeper.isSending(), keeper.isWorking()]).toEqual([false, false])
    // The work alone is left to somebody who sends.
    offer('work')
    offer(send)
    await until(async () => keeper.isWorking())
    expect(done).toEqual(['no longer rests', 'sends and works'])
  })

  it('puts down what it lost, to the end, and only then goes on with what is left', async () => {
    const { keeper, done, events, takeAway } = await setup([send, 'work'])
    takeAway('work')
    await until(async () => done.length === 3)
    expect(done).toEqual(['sends and works', 'no longer sends and works', 'sends'])
    expect(keeper.isWorking()).toBe(false)
    takeAway(send)
    await until(async () => events.includes('sending.lost'))
    expect(keeper.isSending()).toBe(false)
    expect(events).toEqual(['sending.taken', 'work.taken', 'work.lost', 'sending.lost'])
  })

  it('leaves the work to whoever sends now, when it lost its account alone', async () => {
    const { keeper, offer, takeAway, isFree } = await setup([send, 'work'])
    takeAway(send)
    await until(async () => !keeper.isSending())
    expect(isFree('work')).toBe(true)
    offer(send)
    await until(async () => keeper.isWorking())
  })

  it('tries again when it could not take the work up', async () => {
    const { keeper, done, offer } = await setup([], { failures: 2 })
    offer(send)
    await until(async () => keeper.isSending())
    expect(done.at(-1)).toBe('sends')
  })

  it('rests in order when another daemon takes up what it could not', async () => {
    const { begun, offer } = await setup([], { failures: 1, isTakenOver: true })
    offer(send)
    await until(async () => begun.length === 2)
    expect(begun).toEqual(['rests', 'rests'])
  })

  it('accepts a copy before anything else, also one that turns out to be one later', async () => {
    const { done, growOld } = await setup([send, 'work'], { isCopy: true })
    expect(done).toEqual(['accepted a copy', 'sends and works'])
    growOld()
    await until(async () => done.length === 5)
    expect(done.slice(2)).toEqual(['accepted a copy', 'no longer sends and works', 'sends and works'])
  })

  it('accepts a copy under new terms, so that nothing of before is recorded in it', async () => {
    const { accepting, growOld, keeper, termOf } = await setup([send, 'work'])
    const before = { send: termOf(send), work: termOf('work') }
    growOld()
    await until(async () => accepting.length > 0)
    expect(accepting).toEqual([termOf('work')])
    expect(termOf('work')).toBeGreaterThan(before.work)
    expect(termOf(send)).toBeGreaterThan(before.send)
    await until(async () => keeper.isWorking())
  })
})
