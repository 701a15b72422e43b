import type { UnixSeconds } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf } from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import { createUsedNonces } from './logins.js'

const [wallet, other] = [addressOf(1), addressOf(2)]

/** Three nonces of an address are remembered. */
function world() {
  const clock = stoppedClock(1_000_000)
  const { store } = createMemoryStore(clock)
  const used = createUsedNonces(store, 3)
  let uses = 0
  const now = () => clock.now() / 1000
  const take = (nonce: string, end: number, address = wallet) => used.take(nonce, end as UnixSeconds, address)
  /** Uses a fresh nonce that expires 300 seconds from now. */
  const use = (address = wallet) => take(`nonce ${uses++}`, now() + 300, address)
  const inTurn = async (times: number) => {
    const outcomes: string[] = []
    for (let i = 0; i < times; i++) outcomes.push(await use())
    return outcomes
  }
  const pass = (seconds: number) => clock.advance(seconds * 1000)
  return { now, pass, take, use, inTurn, giveBack: used.giveBack }
}

describe('the memory of used nonces', () => {
  it('is bounded: a wallet that fills it with fresh ones gets in later, and keeps no other wallet out', async () => {
    const { pass, use, inTurn } = world()
    expect(await inTurn(4)).toEqual(['taken', 'taken', 'taken', 'full'])
    expect(await use(other)).toBe('taken')
    pass(299)
    expect(await use()).toBe('full')
    pass(1)
    expect(await inTurn(4)).toEqual(['taken', 'taken', 'taken', 'full'])
  })

  it('forgets the oldest alone, so that no fresh one can be used twice', async () => {
    const { now, pass, take, use } = world()
    await use()
    pass(200)
    const end = now() + 300
    expect(await take('fresh', end)).toBe('taken')
    await use()
    pass(100)
    expect(await use()).toBe('taken')
    expect(await take('fresh', end)).toBe('used')
  })

  it('keeps a nonce behind its end while the clock of another daemon may be late, and then deletes it', async () => {
    const { now, pass, take } = world()
    const end = now() + 300
    expect(await take('a', end)).toBe('taken')
    pass(600)
    expect(await take('b', now() + 300)).toBe('taken')
    expect(await take('a', end)).toBe('used')
    pass(1)
    expect(await take('a', end)).toBe('taken')
  })

  it('holds nothing that is given back', async () => {
    const { take, use, giveBack } = world()
    for (let i = 0; i < 10; i++) {
      expect(await take('given back', 2_000)).toBe('taken')
      await giveBack('given back')
    }
    expect(await use()).toBe('taken')
  })

  it('of several callers with one nonce exactly one gets in', async () => {
    const { take } = world()
    const outcomes = await Promise.all(Array.from({ length: 9 }, () => take('one', 1_300)))
    expect(outcomes.toSorted()).toEqual(['taken', ...Array<string>(8).fill('used')])
  })
})
