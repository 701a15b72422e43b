import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { countsOf, pageOf } from '../../../test/books-model.js'
import {
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  seconds,
  units,
} from '../../../test/challenges.js'
import { openTestStore, type TestStore } from '../../../test/store.js'
import type { PageQuery } from '../../payment/books.js'

const start = 1_700_000_000
const ends = ['open', 'claimed', 'accepted', 'granted', 'finalized', 'demoted', 'late', 'unmatched'] as const
type End = (typeof ends)[number]

/** A payment that got as far as that. */
async function pay({ ledger }: TestStore, seed: number, end: End, issuedAt: number): Promise<void> {
  const challenge = challengeOf(seed, { issuedAt: seconds(issuedAt), expiresAt: seconds(issuedAt + 300) })
  const { nonce } = challenge
  await ledger.issue(challenge)
  if (end === 'late') await ledger.recordLate(challenge, burnOf(seed), seed % 2 ? 'late' : 'unpresented')
  if (end === 'unmatched') await ledger.recordUnmatched(nonce, { txHash: hashOf(seed), reason: 'dust' })
  if (end === 'open' || end === 'late' || end === 'unmatched') return
  await ledger.claim(nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  if (end === 'claimed') return
  await ledger.accept(nonce, burnOf(seed))
  if (end === 'accepted') return
  const grant = await ledger.takeGrant(nonce, 1_000)
  if (typeof grant === 'object') await grant.use()
  if (end === 'finalized') await ledger.finalize(nonce, { value: units(1000n) }, units(1000n))
  if (end === 'demoted') await ledger.demote(nonce)
}

const noncesOf = (payments: readonly { readonly challenge: { readonly nonce: string } }[]) =>
  payments.map(({ challenge }) => challenge.nonce)

describe('the books of the store', () => {
  it('show the pages and counts that looking at every payment would give', async () => {
    const anyPayment = fc.record({ end: fc.constantFrom(...ends), issuedAt: fc.nat({ max: 12 }) })
    const anyBound = fc.option(fc.integer({ min: start, max: start + 14 }), { nil: undefined })
    const anyQuery = fc.record({
      phase: fc.constantFrom(undefined, 'open', 'expired', 'accepted', 'finalized'),
      isLate: fc.constantFrom(undefined, true),
      isDemoted: fc.constantFrom(undefined, undefined, true),
      since: anyBound,
      until: anyBound,
      limit: fc.integer({ min: 1, max: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyPayment, { maxLength: 20 }), anyQuery, async (payments, query) => {
        const clock = stoppedClock(start * 1000)
        const store = await openTestStore({}, clock)
        for (const [i, { end, issuedAt }] of payments.entries())
          await pay(store, i + 1, end, start + issuedAt)
        clock.advance(306_000)
        const found = await Promise.all(payments.map((_, i) => store.books.find(nonceOf(i + 1))))
        const all = found.flatMap((payment) => payment ?? [])
        expect(await store.books.counts()).toEqual(countsOf(all, clock.now()))
        let after: PageQuery['after']
        do {
          const page = await store.books.page({ ...query, after } as PageQuery)
          const wanted = pageOf(all, { ...query, after } as PageQuery, clock.now())
          expect([noncesOf(page.payments), page.next]).toEqual([noncesOf(wanted.payments), wanted.next])
          after = page.next
        } while (after)
        await store.close()
      }),
      { numRuns: 60 },
    )
  })

  it('list transfers that cover nothing, newest first', async () => {
    const store = await openTestStore()
    await pay(store, 1, 'unmatched', start)
    await pay(store, 2, 'unmatched', start)
    expect((await store.books.unmatched(5)).map(({ challengeNonce }) => challengeNonce)).toEqual([
      nonceOf(2),
      nonceOf(1),
    ])
    await store.close()
  })
})
