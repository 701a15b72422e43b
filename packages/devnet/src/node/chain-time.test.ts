import { expect, test } from 'vitest'
import { createChainTime } from './chain-time.js'

function timeAt(seconds: number) {
  const clock = { seconds, now: () => clock.seconds * 1000 + 999 }
  return { clock, time: createChainTime({ clock }) }
}

test('a block carries the whole second of the clock', () => {
  expect(timeAt(1_000).time.next(900)).toBe(1_000)
})

test('blocks within one second share its timestamp', () => {
  const { time } = timeAt(1_000)
  expect([time.next(1_000), time.next(1_000)]).toEqual([1_000, 1_000])
})

test('a clock that goes back does not take the chain along', () => {
  const { clock, time } = timeAt(1_000)
  clock.seconds = 500
  expect(time.next(1_000)).toBe(1_000)
})

test('added time stays for all later blocks and adds up', () => {
  const { clock, time } = timeAt(1_000)
  time.increase(60)
  expect(time.increase(40)).toBe(100)
  expect(time.next(1_000)).toBe(1_100)
  clock.seconds += 5
  expect(time.next(1_100)).toBe(1_105)
})

test('a forced timestamp holds for one block and time goes on from there', () => {
  const { clock, time } = timeAt(1_000)
  time.force(5_000)
  expect(time.next(1_000)).toBe(5_000)
  clock.seconds += 2
  expect(time.next(5_000)).toBe(5_002)
})

test('a restored state forgets what was added since', () => {
  const { time } = timeAt(1_000)
  const before = time.save()
  time.increase(100)
  time.restore(before)
  expect(time.next(1_000)).toBe(1_000)
})
