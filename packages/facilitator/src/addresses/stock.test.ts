import { expect, test } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { addressOf, nonceOf } from '../../test/challenges.js'
import type { ReadyAddress } from '../payment/ports.js'
import { createAddressStock, createWaitLine } from './stock.js'

const readyOf = (seed: number) =>
  ({ challengeNonce: nonceOf(seed), payTo: addressOf(seed), powNonce: 0, powBits: 0 }) as ReadyAddress

const open = (keptForSellers: number) =>
  createAddressStock({
    store: undefined,
    clock: handClock(),
    restore: (stored) => stored,
    keptForSellers,
    isShared: false,
    onError: () => undefined,
  })

test('strangers leave the last ones to sellers, who may have all', () => {
  const stock = open(2)
  for (const seed of [1, 2, 3]) stock.addMined(readyOf(seed))
  expect(stock.take('stranger')).toEqual(readyOf(1))
  expect(stock.take('stranger')).toBeUndefined()
  expect([stock.take('seller'), stock.take('seller'), stock.take('seller')]).toEqual([
    readyOf(2),
    readyOf(3),
    undefined,
  ])
})

test('sellers and strangers who wait get the next ones in turn, each in the order they came', async () => {
  const stock = open(0)
  const callers = ['stranger', 'stranger', 'seller', 'stranger', 'seller', 'seller'] as const
  const served: number[] = []
  const waits = callers.map((caller, at) => stock.wait(1, caller).then(() => served.push(at)))
  for (const seed of [1, 2, 3, 4, 5, 6]) stock.addMined(readyOf(seed))
  await Promise.all(waits)
  expect(served).toEqual([2, 0, 4, 1, 5, 3])
  expect(stock.size()).toBe(0)
})

test('a flood of strangers gets every other new one until those that are kept are there, and then all', async () => {
  const stock = open(2)
  const served: ReadyAddress[] = []
  const flood = [1, 2, 3, 4].map(() => stock.wait(1, 'stranger').then((one) => one && served.push(one)))
  for (const seed of [1, 2, 3, 4, 5, 6]) stock.addMined(readyOf(seed))
  await Promise.all(flood)
  expect(served).toEqual([2, 4, 5, 6].map(readyOf))
  expect(stock.known()).toEqual(new Set([nonceOf(1), nonceOf(3)]))
})

test('whoever gives up or hangs up leaves the line, and the next moves up', async () => {
  const clock = handClock()
  const line = createWaitLine<string>(clock)
  const hangUp = new AbortController()
  const joined = [
    line.join(10, 'seller'),
    line.join(20, 'seller', hangUp.signal),
    line.join(30, 'seller'),
  ] as const
  expect(clock.sleeps.map(({ ms }) => ms)).toEqual([10, 20, 30])
  clock.sleeps[0]?.end()
  expect(await joined[0]).toBeUndefined()
  hangUp.abort()
  expect(await joined[1]).toBeUndefined()
  expect(await line.join(40, 'seller', hangUp.signal)).toBeUndefined()
  expect(line.length()).toBe(1)
  line.serve('a', 'seller')
  expect(await joined[2]).toBe('a')
})

test('leaves no sleep behind when served or dismissed', async () => {
  const clock = handClock()
  const line = createWaitLine<string>(clock)
  const [first, second] = [line.join(10, 'seller'), line.join(10, 'stranger')]
  line.serve('a', 'seller')
  line.dismiss()
  expect(await Promise.all([first, second])).toEqual(['a', undefined])
  expect(clock.sleeps.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(line.length()).toBe(0)
})
