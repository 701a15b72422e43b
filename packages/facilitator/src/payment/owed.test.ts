import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { challengeOf, nonceOf } from '../../test/challenges.js'
import { createOwedBooks } from './owed.js'
import type { AwaitingMint } from './records.js'
import { createWaits } from './waits.js'

/** Books over so many payments that await their mint. */
function booksOf(payments: number, isElsewhere = false) {
  const waits = createWaits({ clock: stoppedClock() })
  const books = createOwedBooks({
    ledger: {
      async *awaitingMint() {
        for (let seed = 1; seed <= payments; seed++) yield { challenge: challengeOf(seed) } as AwaitingMint
      },
      books: { owed: async () => ({ payments, value: 1_000n, oldestAt: 5 }) },
    },
    waits: () => waits,
    isElsewhere: () => isElsewhere,
  })
  return { books, waits }
}

describe('what is owed to the provider', () => {
  it('has reasons only at the daemon that mints', async () => {
    const { books, waits } = booksOf(2, true)
    waits.set(nonceOf(1), 'root_behind')
    expect([...(await books.total()).reasons]).toEqual([['elsewhere', 2]])
    expect(await books.waiting(9, 'root_behind')).toEqual([])
  })

  it('is queued where no round has seen it', async () => {
    const { books, waits } = booksOf(3)
    waits.set(nonceOf(1), 'root_behind')
    waits.set(nonceOf(2), 'queued')
    expect(Object.fromEntries((await books.total()).reasons)).toEqual({ root_behind: 1, queued: 2 })
    expect(await books.waiting(9, 'queued')).toEqual([nonceOf(2), nonceOf(3)])
    expect(await books.waiting(1)).toEqual([nonceOf(1)])
  })

  it('tells how many gather for a batch, epoch by epoch, and since when', async () => {
    const { books, waits } = booksOf(3)
    for (const [seed, epoch, at] of [
      [1, 100, 150],
      [2, 100, 120],
      [3, 200, 210],
    ] as const)
      waits.set(nonceOf(seed), 'gathering', { epoch, at })
    expect((await books.total()).gathering).toEqual([
      { payments: 2, oldestAt: 120 },
      { payments: 1, oldestAt: 210 },
    ])
  })
})
