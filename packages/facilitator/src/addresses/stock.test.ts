import { expect, test } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { createWaitLine } from './stock.js'

const [seller, stranger] = [true, false]

test('serves sellers and strangers in turn, and each of them in the order they came', async () => {
  const line = createWaitLine<string>(handClock())
  const joined = [stranger, stranger, seller, stranger, seller, seller, seller].map((who) =>
    line.join(1, who),
  )
  for (const item of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) expect(line.serve(item)).toBe(true)
  expect(await Promise.all(joined)).toEqual(['b', 'd', 'a', 'f', 'c', 'e', 'g'])
  expect(line.serve('h')).toBe(false)
})

test('whoever gives up or hangs up leaves the line, and the next moves up', async () => {
  const clock = handClock()
  const line = createWaitLine<string>(clock)
  const hangUp = new AbortController()
  const joined = [
    line.join(10, stranger),
    line.join(20, stranger, hangUp.signal),
    line.join(30, stranger),
  ] as const
  expect(clock.sleeps.map(({ ms }) => ms)).toEqual([10, 20, 30])
  clock.sleeps[0]?.end()
  expect(await joined[0]).toBeUndefined()
  hangUp.abort()
  expect(await joined[1]).toBeUndefined()
  expect(await line.join(40, stranger, hangUp.signal)).toBeUndefined()
  expect(line.length()).toBe(1)
  line.serve('a')
  expect(await joined[2]).toBe('a')
})

test('leaves no sleep behind when served or dismissed', async () => {
  const clock = handClock()
  const line = createWaitLine<string>(clock)
  const [first, second] = [line.join(10, stranger), line.join(10, stranger)]
  line.serve('a')
  line.dismiss()
  expect(await Promise.all([first, second])).toEqual(['a', undefined])
  expect(clock.sleeps.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(line.length()).toBe(0)
})
