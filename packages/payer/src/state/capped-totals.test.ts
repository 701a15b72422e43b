import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { address, randomHex } from '../../test/offers.js'
import { createTotals } from './capped-totals.js'
import { hourOf, type Reservation } from './spend-state.js'
import { createMemoryCell } from './versioned-file.js'

function setUp() {
  const clock = jumpingClock()
  const totals = createTotals({ cell: createMemoryCell(), clock, limits: { reservedPerHostMax: 100 } })
  const reserve = async (changes: Partial<Reservation> = {}) => {
    const nonce = randomHex(32) as ChallengeNonce
    const reservation: Reservation = {
      owner: 'o',
      terms: 't',
      pair: 'p',
      host: 'shop.example',
      addresses: [],
      route: 'r',
      amount: '1000',
      hour: hourOf(clock.now()),
      way: 'permit',
      token: address(1),
      payTo: address(2),
      helper: address(3),
      payer: address(4),
      expiresAt: 1,
      deadline: 1,
      ...changes,
    }
    expect(await totals.reserve(nonce, reservation, [])).toBe('reserved')
    return nonce
  }
  const spend = async (changes?: Partial<Reservation>) => totals.spend(await reserve(changes))
  return { clock, totals, reserve, spend }
}

const dayMs = 86_400_000

describe('the last day', () => {
  it.each([
    ['ahead', 60 * dayMs],
    ['back', -3 * dayMs],
  ])(
    'counts all that was spent before, while and after the clock jumped %s and returned',
    async (_, jumpMs) => {
      const { clock, totals, spend } = setUp()
      await spend()
      clock.advance(jumpMs)
      await spend()
      clock.advance(-jumpMs)
      await spend()
      expect((await totals.used('p', { host: '', addresses: [] })).day).toBe(3_000n)
      clock.advance(jumpMs > 0 ? jumpMs + 2 * dayMs : 2 * dayMs)
      expect((await totals.used('p', { host: '', addresses: [] })).day).toBe(0n)
    },
  )
})

it('a clock that was 400 days ahead once holds the cap of a day for a day, and not until then', async () => {
  const { clock, totals, spend, reserve } = setUp()
  const day = async () => (await totals.used('p', { host: '', addresses: [] })).day
  clock.advance(400 * dayMs)
  await spend()
  await reserve()
  clock.advance(-400 * dayMs)
  await spend()
  expect(await day()).toBe(3_000n)
  clock.advance(2 * dayMs)
  expect(await day()).toBe(0n)
})

it('a quote is enough to end the hold of a clock that was far ahead: who is refused by it pays nothing', async () => {
  const { clock, totals, spend } = setUp()
  const day = async () => (await totals.used('p', { host: '', addresses: [] })).day
  clock.advance(400 * dayMs)
  await spend()
  clock.advance(-400 * dayMs)
  expect(await day()).toBe(1_000n)
  clock.advance(2 * dayMs)
  expect(await day()).toBe(0n)
})

describe('a server', () => {
  it('counts once under all names that lead to one of its addresses', async () => {
    const { totals, spend } = setUp()
    await spend({ host: 'localhost', addresses: ['127.0.0.1', '::1'] })
    await spend({ host: '127.0.0.1', addresses: ['127.0.0.1'] })
    const used = async (host: string, ...addresses: string[]) =>
      (await totals.used('p', { host, addresses })).host
    expect(await used('shop.local', '127.0.0.1')).toBe(2_000n)
    expect(await used('localhost')).toBe(1_000n)
    expect(await used('other.example', '192.0.2.1')).toBe(0n)
  })
})

describe('of two signed transfers with one txNonce', () => {
  it.each<[string, Partial<Reservation>, number, bigint]>([
    ['the spent one takes the place of the other', {}, 5, 1_000n],
    ['a smaller one takes the place of no larger one', { amount: '1001' }, 5, 2_001n],
    ['none takes the place of another txNonce', {}, 6, 2_000n],
    ['none takes the place of another account', { payer: address(5) }, 5, 2_000n],
    ['none takes the place of another token', { pair: 'q' }, 5, 1_000n],
  ])('%s', async (_, changes, txNonce, counted) => {
    const { totals, reserve } = setUp()
    const first = await reserve(changes)
    await totals.noteTxNonce(first, txNonce)
    const second = await reserve()
    await totals.noteTxNonce(second, 5)
    await totals.spend(second)
    expect((await totals.used('p', { host: '', addresses: [] })).total).toBe(counted)
    const isReplaced = counted === 1_000n && changes.pair === undefined
    expect((await totals.reservation(first))?.isReplaced ?? false).toBe(isReplaced)
  })
})

it('what one host never burned refuses no other host', async () => {
  const { totals, reserve } = setUp()
  for (let n = 0; n < 100; n += 1) await reserve()
  await expect(reserve()).rejects.toMatchObject({ code: 'memory_full' })
  await reserve({ host: 'another.example' })
  expect(Object.keys((await totals.state()).reservations)).toHaveLength(101)
})
