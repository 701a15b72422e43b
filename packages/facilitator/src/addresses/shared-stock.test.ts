import { expect, test } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { until } from '../../../../test/support/until.js'
import { addressOf, nonceOf } from '../../test/challenges.js'
import type { ReadyAddress } from '../payment/ports.js'
import { type SharedAddresses, shareStock } from './shared-stock.js'
import { createAddressStock } from './stock.js'

const readyOf = (seed: number) =>
  ({ challengeNonce: nonceOf(seed), payTo: addressOf(seed), powNonce: 0, powBits: 0 }) as ReadyAddress

/** A daemon that holds two addresses of those that nobody has. */
async function open(free: ReadyAddress[]) {
  const time = { now: 0 }
  const lost = new Set<string>()
  const shared: SharedAddresses = {
    heldMs: 60_000,
    add: async () => free.length,
    drop: async () => undefined,
    take: async (count) => free.splice(0, count),
    renew: async (nonces) => new Set(nonces.filter((nonce) => !lost.has(nonce))),
    free: async () => free.length,
    release: async () => undefined,
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const stock = createAddressStock({
    store: undefined,
    clock: handClock(),
    restore: (stored) => stored,
    keptForSellers: 0,
    onError,
  })
  const sharing = shareStock({
    stock,
    shared,
    restore: (stored) => stored,
    heldMax: 2,
    nowMs: () => time.now,
    onPolled: () => undefined,
    onError,
  })
  await sharing.opened
  return { stock, sharing, shared, lost, time, errors }
}

test('a daemon forgets addresses that it cannot hold on to, and takes others', async () => {
  const { stock, sharing, lost, time } = await open([1, 2, 3, 4].map(readyOf))
  expect([stock.held(), stock.size()]).toEqual([[nonceOf(1), nonceOf(2)], 4])
  lost.add(nonceOf(1))
  time.now += 15_000
  sharing.poll()
  await until(() => stock.held().includes(nonceOf(3)))
  expect([stock.held(), stock.size()]).toEqual([[nonceOf(2), nonceOf(3)], 3])
  await sharing.close()
})

test('a daemon that slept hands out nothing that others may have taken, even while the database is away', async () => {
  const { stock, sharing, shared, time, errors } = await open([1, 2].map(readyOf))
  expect(stock.held()).toHaveLength(2)
  Object.assign(shared, { take: () => Promise.reject(new Error('away')) })
  time.now += 59_000
  sharing.poll()
  expect(stock.held()).toEqual([])
  expect(stock.take('stranger')).toBeUndefined()
  await until(() => errors.length === 1)
  await sharing.close()
})
