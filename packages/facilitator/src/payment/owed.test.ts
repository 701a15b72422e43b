import type { UnixSeconds } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, units } from '../../test/challenges.js'
import { createOwedBooks } from './owed.js'
import type { AwaitingMint } from './records.js'
import type { Wait } from './waits.js'

/** Books over a list that the test lengthens, with a clock that the test moves. */
function booksOf(few: number, waitOf?: () => Wait, isElsewhere = false) {
  const awaiting: AwaitingMint[] = []
  const demoted: AwaitingMint[] = []
  const time = { ms: 1_000_000 }
  const books = createOwedBooks({
    ledger: {
      async *awaitingMint() {
        yield* awaiting
      },
      async *demoted() {
        yield* demoted
      },
    },
    clock: { now: () => time.ms },
    waitOf,
    isElsewhere: () => isElsewhere,
    few,
    freshMs: 5_000,
  })
  const burn = (seed: number, at: Partial<AwaitingMint> = {}) =>
    awaiting.push({ challenge: challengeOf(seed), burn: burnOf(seed), ...at })
  const reorg = () => demoted.push(...awaiting.splice(0))
  return { books, time, burn, reorg }
}

describe('what is owed to the provider', () => {
  it('has reasons only at the daemon that mints', async () => {
    const { books, burn } = booksOf(1, () => ({ reason: 'root_behind', sinceMs: 0 }), true)
    burn(1)
    expect([...(await books.total()).reasons]).toEqual([['elsewhere', 1]])
    expect(await books.waiting(9, 'root_behind')).toEqual([])
  })

  it('tells how many gather for a batch, and since when', async () => {
    const { books, burn } = booksOf(1, () => ({ reason: 'gathering', sinceMs: 0 }))
    burn(1)
    burn(2)
    const { gathering } = await books.total()
    expect(gathering).toEqual([{ payments: 2, oldestAt: challengeOf(1).expiresAt }])
  })

  it('waits since its burn, also where that came long after its challenge ended', async () => {
    const { books, burn } = booksOf(1)
    const day = 86_400
    const lateAt = (challengeOf(1).expiresAt + day) as UnixSeconds
    burn(1, { lateAt })
    expect(await books.total()).toMatchObject({ oldestAt: lateAt })
    burn(2, { acceptedAt: (lateAt - 60) as UnixSeconds })
    expect(await books.total()).toMatchObject({ oldestAt: lateAt - 60 })
  })

  it('is not what a reorg took, which is counted by itself', async () => {
    const { books, burn, reorg } = booksOf(1)
    burn(1)
    reorg()
    expect(await books.total()).toMatchObject({ payments: 0, demoted: { payments: 1, value: 1_000n } })
  })

  it('counts a payment that was accepted a moment after the last look', async () => {
    const { books, burn } = booksOf(1)
    expect(await books.total()).toMatchObject({ payments: 0, value: units(0n) })
    burn(1)
    expect(await books.total()).toMatchObject({ payments: 1, value: units(1_000n) })
  })

  it('reuses the sum of many payments for a while, and no longer', async () => {
    const { books, time, burn } = booksOf(1)
    burn(1)
    burn(2)
    await books.total()
    burn(3)
    time.ms += 4_999
    expect(await books.total()).toMatchObject({ payments: 2 })
    time.ms += 1
    expect(await books.total()).toMatchObject({ payments: 3 })
  })

  it('sums again when the clock was set back', async () => {
    const { books, time, burn } = booksOf(0)
    burn(1)
    await books.total()
    burn(2)
    time.ms -= 1
    expect(await books.total()).toMatchObject({ payments: 2 })
  })
})
