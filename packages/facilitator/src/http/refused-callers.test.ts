import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createRefusedBooks } from './refused-callers.js'

function open() {
  const clock = stoppedClock(5_000)
  const books = createRefusedBooks({ clock, strangersMax: 2 })
  const saw = (caller: string, { isSeller = false, endpoint = '/settle' } = {}) =>
    books.saw({ caller, isSeller, endpoint, reason: 'too_many_requests' })
  return { clock, books, saw, callers: () => books.list(9).map(({ caller, count }) => `${caller} ${count}`) }
}

it('counts the same refusal of the same caller, and shows the latest first', () => {
  const { clock, books, saw, callers } = open()
  saw('shop', { isSeller: true })
  clock.advance(1_000)
  saw('192.0.2.1')
  saw('shop', { isSeller: true })
  expect(books.list(9)).toMatchObject([
    {
      caller: 'shop',
      reason: 'too_many_requests',
      count: 2,
      firstAt: 5,
      at: 6,
      meaning: expect.stringMatching(/./),
    },
    { caller: '192.0.2.1', count: 1 },
  ])
  saw('192.0.2.2')
  expect(callers()).toEqual(['192.0.2.2 1', 'shop 2', '192.0.2.1 1'])
  expect(books.list(1).map(({ caller }) => caller)).toEqual(['192.0.2.2'])
})

it('counts strangers of one path and reason together when they are many, so that they hide nobody else', () => {
  const { clock, books, saw, callers } = open()
  saw('shop', { isSeller: true })
  saw('198.51.100.7', { endpoint: '/verify' })
  for (let i = 0; i < 500; i++) {
    clock.advance(1_000)
    saw(`2001:db8:${i}::/64`)
  }
  expect(callers()).toEqual([
    ...['2001:db8:499::/64 1', '2001:db8:498::/64 1', 'others 498'],
    ...['198.51.100.7 1', 'shop 1'],
  ])
  expect(books.list(3)[2]).toMatchObject({ caller: 'others', firstAt: 6, at: 503 })
  // A caller that returns has a line again.
  saw('2001:db8:0::/64')
  expect(callers().slice(0, 3)).toEqual(['2001:db8:0::/64 1', '2001:db8:499::/64 1', 'others 499'])
})
