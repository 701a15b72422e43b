import { expect, test } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { createWaitLine, type WaitLine } from './stock.js'

/** Serves callers in the order of these ranks; everybody has the same when none are given. */
const serve = (line: WaitLine<string>, item: string, rank: (key: string) => number | undefined = () => 0) =>
  line.serve(item, rank)

test('serves callers of one rank in the order they came', async () => {
  const line = createWaitLine<string>(handClock())
  const joined = [line.join(1, 'x'), line.join(1, 'y'), line.join(1, 'x')]
  expect(['a', 'b', 'c'].map((item) => serve(line, item))).toEqual(['x', 'y', 'x'])
  expect(await Promise.all(joined)).toEqual(['a', 'b', 'c'])
  expect(serve(line, 'd')).toBeUndefined()
})

test('serves the lowest rank first, and nobody without one', async () => {
  const line = createWaitLine<string>(handClock())
  const joined = [line.join(1, 'barred'), line.join(1, 'second'), line.join(1, 'first')]
  const ranks: Record<string, number> = { second: 3, first: -1 }
  const rank = (key: string) => ranks[key]
  expect([serve(line, 'a', rank), serve(line, 'b', rank), serve(line, 'c', rank)]).toEqual([
    'first',
    'second',
    undefined,
  ])
  expect(await Promise.all(joined.slice(1))).toEqual(['b', 'a'])
  expect(line.length()).toBe(1)
  line.dismiss()
})

test('whoever gives up or hangs up leaves the line, and the next moves up', async () => {
  const clock = handClock()
  const line = createWaitLine<string>(clock)
  const hangUp = new AbortController()
  const [first, second, third] = [line.join(10, 'x'), line.join(20, 'x', hangUp.signal), line.join(30, 'x')]
  expect(clock.sleeps.map(({ ms }) => ms)).toEqual([10, 20, 30])
  clock.sleeps[0]?.end()
  expect(await first).toBeUndefined()
  hangUp.abort()
  expect(await second).toBeUndefined()
  expect(await line.join(40, 'x', hangUp.signal)).toBeUndefined()
  expect(line.length()).toBe(1)
  serve(line, 'a')
  expect(await third).toBe('a')
})

test('leaves no sleep behind when served or dismissed', async () => {
  const clock = handClock()
  const line = createWaitLine<string>(clock)
  const [first, second] = [line.join(10, 'x'), line.join(10, 'x')]
  serve(line, 'a')
  line.dismiss()
  expect(await Promise.all([first, second])).toEqual(['a', undefined])
  expect(clock.sleeps.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(line.length()).toBe(0)
})
