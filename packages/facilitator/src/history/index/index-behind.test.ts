import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { handClock } from '../../../../../test/support/clocks.js'
import { burnOf, challengeOf, nonceOf, seconds } from '../../../test/challenges.js'
import { limits } from '../../limits.js'
import type { HistoryChange } from '../change.js'
import type { HistoryPayment } from '../payment.js'
import { booksBehind, createIndexBehind, type IndexBehindDeps } from './index-behind.js'

const challenged = (seed: number): HistoryPayment => ({
  challenge: challengeOf(seed),
  unmatched: [],
  turns: [{ seq: seed, kind: 'challenged', at: seconds(1) }],
})
const accepted = (seed: number): HistoryPayment => ({
  ...challenged(seed),
  accepted: { burn: burnOf(seed), at: seconds(2) },
})
const finalized = (seed: number): HistoryPayment => ({
  ...accepted(seed),
  finalized: {
    mint: { txHash: burnOf(seed).txHash, blockNumber: 3n, value: burnOf(seed).value },
    at: seconds(3),
  },
})

/** An index in memory that can refuse and be slow, behind a clock that the test moves. */
function createWorld(changes: Partial<IndexBehindDeps['limits']> = {}) {
  const held = new Map<ChallengeNonce, HistoryPayment>()
  const puts: { readonly changes: readonly HistoryChange[]; readonly seq: number }[] = []
  const asked: ChallengeNonce[] = []
  const failures: unknown[] = []
  const clock = handClock()
  const world = { isFull: false, isDamaged: false, whilePut: () => {} }
  const behind = createIndexBehind({
    index: {
      needsFilling: () => world.isDamaged,
      async payments(nonces) {
        asked.push(...nonces)
        return new Map([...held].filter(([nonce]) => nonces.includes(nonce)))
      },
      async put(put, seq) {
        world.whilePut()
        await new Promise(setImmediate)
        if (world.isDamaged) throw new Error('the index is damaged')
        if (world.isFull) throw new Error('the disk is full')
        for (const { before, after } of put) {
          expect(held.get(after.challenge.nonce)).toEqual(before)
          held.set(after.challenge.nonce, after)
        }
        puts.push({ changes: put, seq })
      },
    },
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms, signal as AbortSignal).catch(() => undefined) },
    onFailure: (err) => failures.push(err),
    limits: { ...limits, ...changes },
  })
  const nextSleep = async () => {
    while (clock.sleeps.length === 0) await new Promise(setImmediate)
    return clock.sleeps.shift() as (typeof clock.sleeps)[number]
  }
  return { world, behind, held, puts, asked, failures, nextSleep }
}

describe('the index behind the files', () => {
  it('knows at once what was added, and gathers the changes of a payment into one', async () => {
    const { behind, puts, asked, held, nextSleep } = createWorld()
    behind.add([{ after: challenged(1) }], 1)
    behind.add([{ after: challenged(2) }, { before: challenged(1), after: accepted(1) }], 3)
    expect(await behind.payments([nonceOf(1), nonceOf(3)])).toEqual(new Map([[nonceOf(1), accepted(1)]]))
    expect(asked).toEqual([nonceOf(3)])
    const gathering = await nextSleep()
    expect([gathering.ms, puts]).toEqual([limits.historyGatherMs, []])
    gathering.end()
    while (held.size === 0) await new Promise(setImmediate)
    expect(puts).toEqual([{ changes: [{ after: accepted(1) }, { after: challenged(2) }], seq: 3 }])
    // A payment that will change again is still known without a question.
    expect(await behind.payments([nonceOf(1)])).toEqual(new Map([[nonceOf(1), accepted(1)]]))
    expect(asked).toEqual([nonceOf(3)])
  })

  it('asks the index for a payment that ended, and keeps no more of the others than it may', async () => {
    const { behind, asked } = createWorld({ historyRecentMax: 1 })
    behind.add([{ after: finalized(1) }, { after: challenged(2) }, { after: challenged(3) }], 5)
    await behind.caughtUp()
    const known = await behind.payments([nonceOf(1), nonceOf(2), nonceOf(3)])
    expect([...known.keys()].sort()).toEqual([nonceOf(1), nonceOf(2), nonceOf(3)])
    expect(asked).toEqual([nonceOf(1), nonceOf(2)])
  })

  it('builds on what the index is being given at that moment', async () => {
    const { behind, world, puts } = createWorld()
    let known: unknown
    world.whilePut = () => {
      world.whilePut = () => {}
      void behind.payments([nonceOf(1)]).then((found) => {
        known = found.get(nonceOf(1))
      })
      behind.add([{ before: challenged(1), after: accepted(1) }], 2)
    }
    behind.add([{ after: challenged(1) }], 1)
    await behind.caughtUp()
    await behind.caughtUp()
    expect(known).toEqual(challenged(1))
    expect(puts.map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('does not wait when much has gathered', async () => {
    const { behind, puts } = createWorld({ historyGatheredMax: 2 })
    behind.add([{ after: challenged(1) }], 1)
    behind.add([{ after: challenged(2) }], 2)
    while (puts.length === 0) await new Promise(setImmediate)
    expect(puts[0]?.seq).toBe(2)
  })

  it('answers no question before the index has what was added', async () => {
    const { behind, held } = createWorld()
    const books = booksBehind(
      {
        find: async (nonce) => held.get(nonce),
        page: async () => ({ payments: [...held.values()] }),
        totals: async () => ({ payments: held.size }) as never,
        async *all() {
          yield* held.values()
        },
      },
      behind,
    )
    const scope = { kind: 'treasury', treasury: challengeOf(1).treasury } as const
    behind.add([{ after: challenged(1) }], 1)
    expect(await books.find(nonceOf(1))).toEqual(challenged(1))
    behind.add([{ after: challenged(2) }], 2)
    expect(await books.page({ scope, order: 'time', limit: 9 })).toMatchObject({ payments: { length: 2 } })
    behind.add([{ after: challenged(3) }], 3)
    expect(await books.totals(scope, { since: 0, until: 9 })).toEqual({ payments: 3 })
    behind.add([{ after: challenged(4) }], 4)
    const all: HistoryPayment[] = []
    for await (const payment of books.all({ scope })) all.push(payment)
    expect(all).toHaveLength(4)
  })

  it('tells that the index refuses, gives it the same again, and makes writers wait when too much waits', async () => {
    const { behind, world, puts, failures, nextSleep } = createWorld({ historyUnindexedMax: 1 })
    world.isFull = true
    behind.add([{ after: challenged(1) }], 1)
    await expect(behind.caughtUp()).rejects.toMatchObject({ code: 'journal_failed' })
    expect(behind.failure()).toMatchObject({ code: 'journal_failed' })
    await expect(behind.room()).resolves.toBeUndefined()
    behind.add([{ before: challenged(1), after: accepted(1) }], 2)
    await expect(behind.room()).rejects.toMatchObject({ code: 'journal_failed' })
    const [, pause] = [await nextSleep(), await nextSleep()]
    expect(pause.ms).toBe(limits.historyRetryFirstMs)
    world.isFull = false
    pause.end()
    while (puts.length === 0) await new Promise(setImmediate)
    await behind.caughtUp()
    expect(puts.map(({ seq, changes }) => [seq, changes.length])).toEqual([
      [1, 1],
      [2, 1],
    ])
    expect([failures.length, behind.failure()]).toEqual([1, undefined])
    await expect(behind.room()).resolves.toBeUndefined()
  })

  it('gives a damaged index nothing, and nothing of before to the one that was made anew', async () => {
    const { behind, world, puts, held } = createWorld()
    behind.add([{ after: challenged(1) }], 1)
    world.isDamaged = true
    await expect(behind.caughtUp()).rejects.toMatchObject({ code: 'journal_failed' })
    behind.add([{ before: challenged(1), after: accepted(1) }], 2)
    expect([behind.needsFilling(), puts]).toEqual([true, []])
    await behind.mend(async () => {
      held.set(nonceOf(1), accepted(1))
      world.isDamaged = false
    })
    expect(behind.failure()).toBeUndefined()
    behind.add([{ before: accepted(1), after: finalized(1) }], 3)
    await behind.caughtUp()
    expect(puts).toEqual([{ changes: [{ before: accepted(1), after: finalized(1) }], seq: 3 }])
  })

  it('lets a write end before the index is made anew, and tells of damage that comes in a pause', async () => {
    const { behind, world, puts } = createWorld()
    behind.add([{ after: challenged(1) }], 1)
    void behind.caughtUp()
    await behind.mend(async () => expect(puts).toHaveLength(1))

    world.isFull = true
    behind.add([{ after: challenged(2) }], 2)
    await expect(behind.caughtUp()).rejects.toMatchObject({ code: 'journal_failed' })
    world.isDamaged = true
    await behind.mend(async () => void Object.assign(world, { isDamaged: false, isFull: false }))
    await behind.caughtUp()
    expect(puts).toHaveLength(1)
  })

  it('puts in what waits before it ends, and gives up on an index that refuses', async () => {
    const { behind, puts } = createWorld()
    behind.add([{ after: challenged(1) }], 1)
    await behind.close()
    expect(puts).toHaveLength(1)
    const refused = createWorld()
    refused.world.isFull = true
    refused.behind.add([{ after: challenged(1) }], 1)
    await refused.behind.close()
    expect([refused.puts, refused.failures.length]).toEqual([[], 1])
  })
})
