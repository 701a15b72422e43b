import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import {
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  seconds,
  units,
} from '../../test/challenges.js'
import { createMemoryLedger } from '../../test/ledger.js'
import { countsOf, type PageQuery, pageOf, type RecordedPayment } from '../payment/books.js'
import type { EventLedger } from './ledger.js'

const start = 1_700_000_000
const setup = () => {
  const clock = stoppedClock(start * 1000)
  const ledger = createMemoryLedger({ clock, openMax: 10_000, expiredRetentionSeconds: 3600 })
  return { clock, ledger }
}

const ends = ['open', 'claimed', 'accepted', 'granted', 'finalized', 'demoted', 'late'] as const
type End = (typeof ends)[number]

/** A payment that got as far as that. */
async function pay(ledger: EventLedger, seed: number, end: End, issuedAt: number): Promise<void> {
  const challenge = challengeOf(seed, { issuedAt: seconds(issuedAt), expiresAt: seconds(issuedAt + 300) })
  const { nonce } = challenge
  await ledger.issue(challenge)
  if (end === 'late') await ledger.recordLate(challenge, burnOf(seed), 'late')
  if (end === 'open' || end === 'late') return
  await ledger.claim(nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  if (end === 'claimed') return
  await ledger.accept(nonce, burnOf(seed))
  if (end === 'accepted') return
  const grant = await ledger.takeGrant(nonce, 1_000)
  if (typeof grant === 'object') await grant.use()
  if (end === 'finalized') await ledger.finalize(nonce, { value: units(1000n) }, units(1000n))
  if (end === 'demoted') await ledger.demote(nonce)
}

async function everything(ledger: EventLedger, seeds: readonly number[]): Promise<RecordedPayment[]> {
  const found = await Promise.all(seeds.map((seed) => ledger.books.find(nonceOf(seed))))
  return found.filter((payment) => payment !== undefined)
}

describe('the books of a ledger', () => {
  it('show the pages and counts that looking at every payment would give', async () => {
    const anyPayment = fc.record({ end: fc.constantFrom(...ends), issuedAt: fc.nat({ max: 12 }) })
    const anyBound = fc.option(fc.integer({ min: start, max: start + 14 }), { nil: undefined })
    const anyQuery = fc.record({
      phase: fc.constantFrom(undefined, 'open', 'expired', 'accepted', 'finalized'),
      isLate: fc.constantFrom(undefined, true),
      since: anyBound,
      until: anyBound,
      limit: fc.integer({ min: 1, max: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyPayment, { maxLength: 30 }), anyQuery, async (payments, query) => {
        const { clock, ledger } = setup()
        for (const [i, { end, issuedAt }] of payments.entries()) {
          await pay(ledger, i + 1, end, start + issuedAt)
        }
        clock.advance(306_000)
        const all = await everything(
          ledger,
          payments.map((_, i) => i + 1),
        )
        expect(await ledger.books.counts()).toEqual(countsOf(all, clock.now()))
        let after: PageQuery['after']
        do {
          const page = await ledger.books.page({ ...query, after } as PageQuery)
          expect(page).toEqual(pageOf(all, { ...query, after } as PageQuery, clock.now()))
          after = page.next
        } while (after)
      }),
      { numRuns: 200 },
    )
  })

  it('show the newest of many, wherever they ended, and every one of them once', {
    timeout: 120_000,
  }, async () => {
    const { ledger } = setup()
    const count = 9_000
    // Not in the order in which they end.
    for (let seed = 1; seed <= count; seed++)
      await pay(ledger, seed, 'granted', start + ((seed * 7_919) % 9_001))
    const seen: number[] = []
    let after: PageQuery['after']
    do {
      const page = await ledger.books.page({ limit: 500, after })
      seen.push(...page.payments.map(({ challenge }) => challenge.issuedAt))
      after = page.next
    } while (after)
    expect(seen).toHaveLength(count)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
  })
})

describe('transfers that cover nothing', () => {
  const transfer = (seed: number) => ({ txHash: hashOf(seed), reason: 'burn_underpaid' })

  it('are remembered once each, newest first, and keep their challenge from being forgotten', async () => {
    const { clock, ledger } = setup()
    await ledger.issue(challengeOf(1))
    await ledger.issue(challengeOf(2))
    expect(await ledger.recordUnmatched(nonceOf(1), transfer(5))).toBe('recorded')
    expect(await ledger.recordUnmatched(nonceOf(1), transfer(5))).toBe('known')
    expect(await ledger.recordUnmatched(nonceOf(1), transfer(6))).toBe('recorded')
    expect(await ledger.recordUnmatched(nonceOf(9), transfer(6))).toBe('forgotten')
    expect(await ledger.books.unmatched(10)).toEqual([
      { challengeNonce: nonceOf(1), ...transfer(6), at: start },
      { challengeNonce: nonceOf(1), ...transfer(5), at: start },
    ])
    expect(await ledger.books.unmatched(1)).toMatchObject([transfer(6)])
    expect(ledger.openCount()).toBe(2)
    clock.advance(100_000_000)
    expect(await ledger.find(nonceOf(2))).toBeUndefined()
    expect(await ledger.find(nonceOf(1))).toMatchObject({ challenge: challengeOf(1) })
    expect(await ledger.books.counts()).toMatchObject({ open: 0, expired: 1, unmatched: 2 })
  })

  it('are bounded for one challenge and for all, so that dust cannot fill the disk', async () => {
    const { ledger } = setup()
    const outcomes = []
    for (let seed = 1; seed <= 4; seed++) {
      await ledger.issue(challengeOf(seed))
      for (let i = 0; i < 3; i++) {
        outcomes.push(await ledger.recordUnmatched(nonceOf(seed), transfer(seed * 10 + i)))
      }
    }
    // Two of one challenge, five of all.
    expect(outcomes.map((outcome) => outcome === 'recorded')).toEqual([
      ...[true, true, false],
      ...[true, true, false],
      ...[true, false, false],
      ...[false, false, false],
    ])
  })

  it('do not keep a payment from being made all the same', async () => {
    const { ledger } = setup()
    await ledger.issue(challengeOf(1))
    await ledger.recordUnmatched(nonceOf(1), transfer(5))
    await ledger.claim(nonceOf(1), permitPayloadOf(challengeOf(1)))
    await ledger.accept(nonceOf(1), burnOf(1))
    const grant = await ledger.takeGrant(nonceOf(1), 1_000)
    if (typeof grant === 'object') await grant.use()
    await ledger.finalize(nonceOf(1), { value: units(1000n) }, units(1000n))
    expect(await ledger.books.counts()).toMatchObject({ finalized: 1, unmatched: 1 })
  })
})
