import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { createRefusedBooks } from './refused.js'

it('counts the same refusal of the same caller, shows the latest first and forgets the oldest', () => {
  const clock = stoppedClock(5_000)
  const books = createRefusedBooks({ clock, kindsMax: 2 })
  const saw = (caller: string) => books.saw({ caller, endpoint: '/settle', reason: 'too_many_requests' })
  saw('shop')
  clock.advance(1_000)
  saw('192.0.2.1')
  saw('shop')
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
  saw('another')
  expect(books.list(9).map(({ caller }) => caller)).toEqual(['another', 'shop'])
  expect(books.list(1).map(({ caller }) => caller)).toEqual(['another'])
})
