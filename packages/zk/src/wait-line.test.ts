import { expect, test } from 'vitest'
import { createHandClock } from '../test/hand-clock.js'
import { createWaitLine } from './wait-line.js'

test('serves callers in the order they came', async () => {
  const line = createWaitLine<string>(createHandClock())
  const joined = [line.join(1), line.join(1), line.join(1)]
  expect(['a', 'b', 'c'].map((item) => line.serve(item))).toEqual([true, true, true])
  expect(await Promise.all(joined)).toEqual(['a', 'b', 'c'])
  expect(line.serve('d')).toBe(false)
})

test('whoever gives up leaves the line, and the next moves up', async () => {
  const clock = createHandClock()
  const line = createWaitLine<string>(clock)
  const [first, second] = [line.join(10), line.join(20)]
  expect(clock.sleeps.map(({ ms }) => ms)).toEqual([10, 20])
  clock.sleeps[0]?.end()
  expect(await first).toBeUndefined()
  expect(line.length()).toBe(1)
  line.serve('a')
  expect(await second).toBe('a')
})

test('leaves no sleep behind when served or dismissed', async () => {
  const clock = createHandClock()
  const line = createWaitLine<string>(clock)
  const [first, second] = [line.join(10), line.join(10)]
  line.serve('a')
  line.dismiss()
  expect(await Promise.all([first, second])).toEqual(['a', undefined])
  expect(clock.sleeps.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(line.length()).toBe(0)
})
