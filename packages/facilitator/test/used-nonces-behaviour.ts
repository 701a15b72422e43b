/** What every memory of used login nonces must do, wherever it is kept. It remembers three of an address. */
import type { UnixSeconds } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import type { UsedNonces } from '../src/store/postgres/used-nonces.js'
import { addressOf } from './challenges.js'

export type UsedNoncesUnderTest = {
  /** The memories of several daemons, or the one of a daemon alone. They are used in turns. */
  readonly stores: readonly UsedNonces[]
  readonly time: { now: number }
}

const [wallet, other] = [addressOf(1), addressOf(2)]

export function describeUsedNonces(name: string, open: () => UsedNoncesUnderTest): void {
  function world() {
    const { stores, time } = open()
    let turns = 0
    const next = (): UsedNonces => stores[turns++ % stores.length] as UsedNonces
    const take = (nonce: string, end: number, address = wallet) =>
      next().take(nonce, end as UnixSeconds, address)
    /** Uses a fresh nonce that expires 300 seconds from now. */
    const use = (address = wallet) => take(`nonce ${turns}`, time.now + 300, address)
    const inTurn = async (times: number) => {
      const outcomes: string[] = []
      for (let i = 0; i < times; i++) outcomes.push(await use())
      return outcomes
    }
    return { time, take, use, inTurn, giveBack: (nonce: string) => next().giveBack(nonce) }
  }

  describe(`the memory of used nonces, ${name}`, () => {
    it('is bounded: a wallet that fills it with fresh ones gets in later, and keeps no other wallet out', async () => {
      const { time, use, inTurn } = world()
      expect(await inTurn(4)).toEqual(['taken', 'taken', 'taken', 'full'])
      expect(await use(other)).toBe('taken')
      time.now += 299
      expect(await use()).toBe('full')
      time.now += 1
      expect(await inTurn(4)).toEqual(['taken', 'taken', 'taken', 'full'])
    })

    it('forgets the oldest alone, so that no fresh one can be used twice', async () => {
      const { time, take, use } = world()
      await use()
      time.now += 200
      const end = time.now + 300
      expect(await take('fresh', end)).toBe('taken')
      await use()
      time.now += 100
      expect(await use()).toBe('taken')
      expect(await take('fresh', end)).toBe('used')
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
}
