import { expect, test } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { until } from '../../../../test/support/until.js'
import { addressOf, nonceOf } from '../../test/challenges.js'
import type { ReadyAddress } from '../payment/ports.js'
import { followStock } from './shared-stock.js'
import { createAddressStock } from './stock.js'

const readyOf = (seed: number) =>
  ({ challengeNonce: nonceOf(seed), payTo: addressOf(seed), powNonce: 0, powBits: 0 }) as ReadyAddress

test('an address that was handed out is not taken in again, whenever its row goes', async () => {
  const rows = [readyOf(1), readyOf(2)]
  let answer: (() => void) | undefined
  let asked = 0
  let polls = 0
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const stock = createAddressStock({
    store: undefined,
    isShared: true,
    clock: handClock(),
    restore: (stored) => stored,
    keptForSellers: 0,
    onError,
  })
  const following = followStock({
    stock,
    shared: {
      add: async () => undefined,
      drop: async () => undefined,
      /** The rows as they are when it is asked; heard from the second time on when the test says so. */
      nonces: () => {
        const found = rows.map(({ challengeNonce }) => challengeNonce)
        asked += 1
        return asked === 1 ? Promise.resolve(found) : new Promise((heard) => (answer = () => heard(found)))
      },
      read: async (nonces) => rows.filter(({ challengeNonce }) => nonces.includes(challengeNonce)),
    },
    restore: (stored) => stored,
    onPolled: () => {
      polls += 1
    },
    onError,
  })
  await following.opened
  expect(stock.size()).toBe(2)
  await until(() => answer)
  // Issued while the question is under way, whose answer still has it.
  expect(stock.take('stranger')).toEqual(readyOf(1))
  rows.shift()
  answer?.()
  await until(() => polls === 2)
  expect(stock.known()).toEqual(new Set([nonceOf(1), nonceOf(2)]))
  expect(stock.size()).toBe(1)
  await until(() => asked === 3)
  answer?.()
  await until(() => polls === 3)
  expect(stock.known()).toEqual(new Set([nonceOf(2)]))
  expect([stock.take('stranger'), stock.take('stranger')]).toEqual([readyOf(2), undefined])
  expect(errors).toEqual([])
  rows.length = 0
  await until(() => asked === 4)
  answer?.()
  await following.close()
})
