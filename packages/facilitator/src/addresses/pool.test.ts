import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { burnAddressAt, deriveBurn } from '@svc-zerc20/zk'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { handClock } from '../../../../test/support/clocks.js'
import { until } from '../../../../test/support/until.js'
// The built files, because a worker thread can only load those.
import { type AddressMiner, createAddressMiner, startMineWorker } from '../../dist/addresses/miner.js'
import { type AddressPool, type AddressPoolDeps, createAddressPool } from '../../dist/addresses/pool.js'
import { epochOfSecond } from '../../test/challenges.js'
import { createMemoryAddresses } from '../../test/memory-store.js'
import { seededRandom } from '../../test/seeded-random.js'
import type { ReadyAddress } from '../payment/ports.js'

const terms = {
  generation: 2,
  powBits: 2,
  chainId: 31337,
  treasury: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  seed: new Uint8Array(32).fill(7),
} as const
/** Whether our own terms give this very address. */
const derives = ({ challengeNonce, powNonce, payTo }: ReadyAddress): boolean =>
  burnAddressAt(deriveBurn({ ...terms, challengeNonce }), powNonce) === payTo
/** So much work that no address comes up within a test. */
const hardTerms = { ...terms, powBits: 32 } as const
const realClock: AddressPoolDeps['clock'] = {
  now: Date.now,
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
}
const longMs = 60_000

let shared: AddressMiner
beforeAll(() => {
  shared = createAddressMiner({ threads: 2 })
})
afterAll(() => shared.close())

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const closable of open.splice(0).reverse()) await closable.close()
})

function createMiner(startWorker = startMineWorker): AddressMiner {
  const miner = createAddressMiner({ threads: 1, startWorker })
  open.push(miner)
  return miner
}

function createPool(deps: Partial<AddressPoolDeps>): AddressPool {
  const pool = createAddressPool({
    ...terms,
    miner: shared,
    random: seededRandom(1),
    clock: realClock,
    targetSize: 4,
    ...deps,
  })
  open.push(pool)
  return pool
}

function existing(taken: readonly (ReadyAddress | undefined)[]): ReadyAddress[] {
  return taken.flatMap((address) => address ?? [])
}

describe('ready addresses', () => {
  test('are refilled to the target and not beyond', async () => {
    const pool = createPool({ targetSize: 5 })
    await until(() => pool.ready() === 5)
    expect(await pool.take(0)).toBeDefined()
    expect(pool.ready()).toBe(4)
    await until(() => pool.ready() === 5)
    await shared.mine({ generation: 2, powBits: 2, recipientHash: 1n, baseSecret: 1n })
    expect(pool.ready()).toBe(5)
  })

  test('are not searched for while callers come and half of the pool is left, then in one go', async () => {
    const clock = handClock()
    let searches = 0
    const mine: AddressMiner['mine'] = (puzzle) => {
      searches += 1
      return shared.mine(puzzle)
    }
    const pool = createPool({ targetSize: 8, clock, miner: { threads: 2, mine } })
    await until(() => pool.ready() === 8)
    for (let taken = 0; taken < 3; taken++) await pool.take(0)
    await shared.mine({ generation: 2, powBits: 2, recipientHash: 1n, baseSecret: 1n })
    expect(searches).toBe(8)
    // Somebody asked since the pause began: it begins again.
    clock.sleeps[0]?.end()
    await until(() => clock.sleeps.length === 2)
    expect(searches).toBe(8)
    await pool.take(0)
    await until(() => pool.ready() === 8)
    expect(searches).toBe(12)
  })

  test('are searched for when it is quiet, however many are left', async () => {
    const clock = handClock()
    const pool = createPool({ targetSize: 8, clock })
    await until(() => pool.ready() === 8)
    await pool.take(0)
    // The pause that was begun for the first one.
    clock.sleeps[0]?.end()
    await until(() => clock.sleeps.length === 2 || pool.ready() === 8)
    clock.sleeps[1]?.end()
    await until(() => pool.ready() === 8)
  })

  test('come back when nobody saw them, and are handed out again', async () => {
    const pool = createPool({ targetSize: 1, miner: { threads: 1, mine: shared.mine } })
    const first = await pool.take(longMs)
    if (first) pool.giveBack(first)
    expect(await pool.take(0)).toEqual(first)
  })

  test('cost nothing when the caller hangs up, before or while it waits', async () => {
    const hangUp = new AbortController()
    const pool = createPool({ targetSize: 2, ...hardTerms, miner: createMiner() })
    const waiting = pool.take(longMs, { gone: hangUp.signal })
    hangUp.abort()
    expect(await waiting).toBeUndefined()
    const full = createPool({ targetSize: 2 })
    await until(() => full.ready() === 2)
    expect(await full.take(longMs, { gone: hangUp.signal })).toBeUndefined()
    expect(full.ready()).toBe(2)
  })

  test('derive again from seed, treasury, nonce and proof of work', async () => {
    const pool = createPool({})
    const taken = existing(await Promise.all([pool.take(longMs), pool.take(longMs), pool.take(longMs)]))
    expect(taken).toHaveLength(3)
    for (const ready of taken) {
      expect(Object.keys(ready).sort()).toEqual(['challengeNonce', 'payTo', 'powBits', 'powNonce'])
      expect(ready.challengeNonce).toMatch(/^0x[0-9a-f]{64}$/)
      expect(derives(ready)).toBe(true)
    }
  })

  test('R-012 are never handed out twice, however the callers come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.record({ callers: fc.integer({ min: 1, max: 8 }), rested: fc.boolean() }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.integer(),
        async (targetSize, bursts, seed) => {
          const pool = createPool({ targetSize, random: seededRandom(seed) })
          const taken: ReadyAddress[] = []
          const earlier: Promise<unknown>[] = []
          for (const { callers, rested } of bursts) {
            // A rested pool serves from its stock; otherwise the bursts meet in the line.
            if (rested) await until(() => pool.ready() >= targetSize)
            const burst = Array.from({ length: callers }, () => pool.take(longMs))
            earlier.push(...burst.map(async (caller) => taken.push(...existing([await caller]))))
            await burst[0]
          }
          await Promise.all(earlier)
          pool.close()
          const total = bursts.reduce((sum, { callers }) => sum + callers, 0)
          expect(new Set(taken.map(({ payTo }) => payTo)).size).toBe(total)
          expect(new Set(taken.map(({ challengeNonce }) => challengeNonce)).size).toBe(total)
        },
      ),
      { numRuns: 10 },
    )
  })
})

describe('waiting', () => {
  test('callers are served in the order they came', async () => {
    const pool = createPool({ targetSize: 1 })
    const served: number[] = []
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => pool.take(longMs).then((ready) => ready && served.push(at))),
    )
    expect(served).toEqual(Array.from({ length: 12 }, (_, at) => at))
  })

  test('an empty pool lets a caller go after the time it gave', async () => {
    const clock = handClock()
    const pool = createPool({ ...hardTerms, miner: createMiner(), clock })
    expect(await pool.take(0)).toBeUndefined()
    const taken = pool.take(250)
    expect(clock.sleeps.map(({ ms }) => ms)).toEqual([250])
    clock.sleeps[0]?.end()
    expect(await taken).toBeUndefined()
  })

  test('too many callers are not let into the line', async () => {
    const pool = createPool({ ...hardTerms, miner: createMiner(), waitersMax: 2 })
    const waiting = [pool.take(longMs), pool.take(longMs)]
    expect(await pool.take(longMs)).toBeUndefined()
    pool.close()
    expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  })

  test('a closed pool hands out nothing', async () => {
    const pool = createPool({})
    await until(() => pool.ready() === 4)
    pool.close()
    expect(pool.ready()).toBe(0)
    expect(await pool.take(longMs)).toBeUndefined()
  })
})

describe('failures', () => {
  test('a crashed worker costs no caller its address', async () => {
    const workers: Worker[] = []
    const miner = createMiner(() => {
      const worker = startMineWorker()
      workers.push(worker)
      return worker
    })
    const errors: unknown[] = []
    const pool = createPool({ miner, onError: (error) => errors.push(error) })
    const callers = Array.from({ length: 6 }, () => pool.take(longMs))
    await workers[0]?.terminate()
    expect(new Set(existing(await Promise.all(callers)).map(({ payTo }) => payTo)).size).toBe(6)
    expect(workers).toHaveLength(2)
    expect(errors).toEqual([])
  })

  test('a failing miner is reported, and tried again after a pause', async () => {
    let started = 0
    const miner = createMiner(() => {
      started += 1
      return started <= 4 ? new Worker('process.exit(1)', { eval: true }) : startMineWorker()
    })
    const clock = handClock()
    const errors: unknown[] = []
    const pool = createPool({ miner, clock, onError: (error) => errors.push(error), targetSize: 1 })
    await until(() => clock.sleeps.length === 1)
    expect(errors).toMatchObject([{ code: 'miner_crashed' }])
    expect(clock.sleeps[0]?.ms).toBe(1000)
    clock.sleeps[0]?.end()
    await until(() => pool.ready() === 1)
    expect(errors).toHaveLength(1)
  })

  test('an answer of a worker that is no proof of work is never handed out', async () => {
    const liar = () =>
      new Worker(
        `const { parentPort } = require('node:worker_threads')
        parentPort.on('message', () => parentPort.postMessage(-1))`,
        { eval: true },
      )
    const clock = handClock()
    const errors: unknown[] = []
    const pool = createPool({ miner: createMiner(liar), clock, onError: (error) => errors.push(error) })
    await until(() => errors.length === 1)
    expect(errors).toMatchObject([{ message: expect.stringContaining('does not pass the proof of work') }])
    expect(pool.ready()).toBe(0)
  })

  test('terms that can make no address are refused at the start', () => {
    expect(() => createPool({ treasury: '0x00' })).toThrow('expected 20 bytes of 0x hex')
    expect(() => createPool({ targetSize: 0 })).toThrow(/targetSize/)
  })
})

describe('a store', () => {
  const nonces = (addresses: readonly { readonly challengeNonce: string }[]) =>
    addresses.map(({ challengeNonce }) => challengeNonce)
  const drain = async (pool: AddressPool, count: number) =>
    existing(await Promise.all(Array.from({ length: count }, () => pool.take(longMs))))

  test('holds every address that is ready, without secrets', async () => {
    const { state, store } = createMemoryAddresses()
    const pool = createPool({ targetSize: 6, store })
    await until(() => pool.ready() === 6 && state.saved.length === 6)
    for (const stored of state.saved)
      expect(Object.keys(stored).sort()).toEqual(['challengeNonce', 'payTo', 'powBits', 'powNonce'])
    await pool.close()
    expect(new Set(nonces(state.saved)).size).toBe(6)
  })

  /** A store as a run leaves it that ended in order. */
  async function filledStore(targetSize: number) {
    const memory = createMemoryAddresses()
    const pool = createPool({ targetSize, store: memory.store })
    await until(() => pool.ready() === targetSize)
    await pool.close()
    return memory
  }
  /** With it, a pool has only what its store gives. */
  const idleMiner = () => ({ threads: 0, mine: shared.mine })

  test('gives its addresses to the next run, which derives them again', async () => {
    const { state, store } = await filledStore(6)
    const saved = nonces(state.saved)
    const pool = createPool({ targetSize: 6, store, miner: idleMiner() })
    const taken = await drain(pool, 6)
    expect(nonces(taken).sort()).toEqual(saved.sort())
    for (const ready of taken) {
      expect(derives(ready)).toBe(true)
    }
  })

  test.each([
    { powBits: 32 },
    // Good enough, and yet another search would not find it again.
    { powBits: 1 },
    { generation: 1 },
    { chainId: 1 },
    { treasury: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
    { seed: new Uint8Array(32) },
    { epochAt: () => epochOfSecond(0) },
  ] as const)('gives nothing that was made under other terms: %o', async (other) => {
    const { state, store } = await filledStore(6)
    expect(state.saved).toHaveLength(6)
    const pool = createPool({ ...other, store, miner: idleMiner() })
    await pool.close()
    expect(state.saved).toEqual([])
  })

  test('gives addresses of an epoch to a run with the same epochs, and to no other', async () => {
    const epochsOf = (length: number, ledger?: string) => () =>
      epochOfSecond(Math.floor(1_763_251_200 / length) * length, ledger)
    const { state, store } = createMemoryAddresses()
    const fill = createPool({ targetSize: 4, store, epochAt: epochsOf(3600) })
    await until(() => fill.ready() === 4)
    await fill.close()
    const saved = state.saved
    const restoredBy = async (deps: Partial<AddressPoolDeps>) => {
      state.saved = saved
      const pool = createPool({ targetSize: 4, store, miner: idleMiner(), ...deps })
      await pool.close()
      return state.saved.length
    }
    expect(await restoredBy({ epochAt: epochsOf(3600) })).toBe(4)
    expect(await restoredBy({ epochAt: epochsOf(7000) })).toBe(0)
    expect(await restoredBy({ epochAt: epochsOf(3600, '22'.repeat(16)) })).toBe(0)
    expect(await restoredBy({})).toBe(0)
  })

  test('that refuses costs nobody an address', async () => {
    const { state, store } = createMemoryAddresses()
    state.failing = true
    const errors: unknown[] = []
    const pool = createPool({ targetSize: 4, store, onError: (error) => errors.push(error) })
    await until(() => errors.length > 0)
    expect(errors[0]).toMatchObject({ message: 'the disk is full' })
    expect(new Set(nonces(await drain(pool, 6))).size).toBe(6)
  })

  test('that cannot be read is started again', async () => {
    const { store } = createMemoryAddresses()
    const errors: unknown[] = []
    const broken = { ...store, load: () => Promise.reject(new Error('not readable')) }
    const pool = createPool({ store: broken, onError: (error) => errors.push(error) })
    expect(await pool.take(longMs)).toBeDefined()
    expect(errors).toMatchObject([{ message: 'not readable' }])
  })
})
