import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { countsOf, pageOf } from '../../../test/books-model.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  seconds,
  units,
} from '../../../test/challenges.js'
import { openTestStore, stepSettings, stores, type TestStore } from '../../../test/store.js'
import type { PageQuery } from '../../payment/books.js'
import { createStoreBooks } from './operator-questions.js'

const start = 1_700_000_000
const ends = ['open', 'claimed', 'accepted', 'granted', 'finalized', 'demoted', 'late', 'unmatched'] as const
type End = (typeof ends)[number]

/** A payment that got as far as that. */
async function pay({ ledger }: TestStore, seed: number, end: End, issuedAt: number): Promise<void> {
  const challenge = challengeOf(seed, {
    issuedAt: seconds(issuedAt),
    expiresAt: seconds(issuedAt + 300),
    amount: units(BigInt(seed % 3) * 500n),
    ...(seed % 2 && { seller: 'shop' }),
  })
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
      seller: fc.constantFrom(undefined, undefined, 'shop', 'nobody'),
      amountMin: fc.constantFrom(undefined, undefined, units(500n), units(1001n)),
      amountMax: fc.constantFrom(undefined, undefined, units(500n)),
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
        // Looking at fewer rows at once gives shorter pages, and the same payments.
        const at = () => ({ now: Math.floor(clock.now() / 1000), settings: stepSettings })
        const hasty = createStoreBooks(store.store, at, 1)
        const pieces: string[] = []
        do {
          const page = await hasty.page({ ...query, limit: 1, after } as PageQuery)
          pieces.push(...noncesOf(page.payments))
          after = page.next
        } while (after)
        expect(pieces).toEqual(
          noncesOf(pageOf(all, { ...query, limit: 99 } as PageQuery, clock.now()).payments),
        )
        await store.close()
      }),
      { numRuns: stores },
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

  it('find a payment by its nonce, by its burn and by its burn address', async () => {
    const store = await openTestStore()
    await pay(store, 1, 'accepted', start)
    await pay(store, 2, 'finalized', start)
    await pay(store, 3, 'late', start)
    const challenge = challengeOf(0x77)
    await store.ledger.issue(challenge)
    await store.ledger.claim(challenge.nonce, permitPayloadOf(challenge))
    await store.ledger.accept(challenge.nonce, burnOf(0x5555))
    const found = async (name: Parameters<typeof store.books.search>[0]) =>
      noncesOf(await store.books.search(name))
    expect(await found(nonceOf(0x77))).toEqual([nonceOf(0x77)])
    expect(await found(hashOf(0x5555))).toEqual([nonceOf(0x77)])
    expect(await found(challenge.payTo)).toEqual([nonceOf(0x77)])
    // The burn of this one has the same number as its nonce.
    expect(await found(hashOf(2))).toEqual([nonceOf(2)])
    expect(await found(hashOf(3))).toEqual([nonceOf(3)])
    expect(await found(hashOf(0xdead))).toEqual([])
    await store.close()
  })

  it('owe of a larger second burn what it has more than the one that is minted, and nothing for what a reorg took', async () => {
    const store = await openTestStore()
    const burn = (seed: number, value: bigint) => ({ ...burnOf(seed), value: units(value) })
    await pay(store, 1, 'accepted', start)
    await pay(store, 2, 'demoted', start)
    const owed = () => store.books.owed()
    expect(await owed()).toEqual({ payments: 1, value: 1_000n, oldestAt: 1_700_000_000 })
    await store.ledger.recordLate(challengeOf(1), burn(11, 1_500n), 'unrecorded')
    await store.ledger.finalize(nonceOf(1), { value: units(1_000n) }, units(1_000n))
    expect(await owed()).toMatchObject({ payments: 1, value: 500n })
    await store.ledger.finalize(nonceOf(1), { value: units(500n) }, units(1_500n))
    await store.ledger.recordLate(challengeOf(1), burn(12, 1_700n), 'unrecorded')
    expect(await owed()).toMatchObject({ payments: 1, value: 200n })
    await store.ledger.finalize(nonceOf(1), { value: units(200n) }, units(1_700n))
    expect(await owed()).toEqual({ payments: 0, value: 0n, oldestAt: undefined })
    expect(await store.books.counts()).toMatchObject({ demoted: 1 })
    await store.close()
  })

  it('owe a burn since it came, also where that was long after its challenge ended', async () => {
    const clock = stoppedClock()
    const store = await openTestStore({}, clock)
    const since = clock.now() / 1000
    clock.advance(86_400_000)
    await store.ledger.recordLate(challengeOf(1), burnOf(1), 'late')
    expect(await store.books.owed()).toMatchObject({ payments: 1, oldestAt: since + 86_400 })
    await store.close()
  })

  it('add up what each hour brought: burns and fees in the hour of the burn, mints in the hour of the mint', async () => {
    const clock = stoppedClock(start * 1000)
    const hour = start - (start % 3_600)
    const store = await openTestStore({}, clock)
    const fee = { amount: units(25n), bps: 250, chargeTo: 'payer' } as const
    for (const seed of [1, 2]) {
      const challenge = challengeOf(seed, { fee })
      await store.ledger.issue(challenge)
      await store.ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
      await store.ledger.accept(challenge.nonce, burnOf(seed))
    }
    await store.ledger.recordLate(challengeOf(3), burnOf(3), 'late')
    clock.advance(2 * 3_600_000)
    await store.ledger.finalize(nonceOf(1), { value: units(1000n) }, units(1000n))
    expect(await store.books.hours(hour, hour + 86_400)).toEqual([
      {
        at: hour,
        accepted: { payments: 2, amount: 2000n },
        fees: 50n,
        finalized: { payments: 0, amount: 0n },
      },
      {
        at: hour + 7_200,
        accepted: { payments: 0, amount: 0n },
        fees: 0n,
        finalized: { payments: 1, amount: 1000n },
      },
    ])
    expect(await store.books.hours(hour + 3_600, hour + 7_200)).toEqual([])
    await store.close()
  })

  it('show the turns of a payment with their transactions and reasons, and nothing of its payload', async () => {
    const clock = stoppedClock(start * 1000)
    const store = await openTestStore({}, clock)
    const { ledger, books, close } = store
    await pay(store, 2, 'accepted', start)
    const challenge = challengeOf(1)
    const { nonce } = challenge
    const payload = permitPayloadOf(challenge)
    await ledger.issue(challenge)
    await ledger.claim(nonce, payload)
    await ledger.release(nonce, { reason: 'burn_failed', message: 'it reverted', txHash: hashOf(8) })
    await ledger.claim(nonce, payload)
    await ledger.recordUnmatched(nonce, { txHash: hashOf(9), reason: 'underpaid' })
    await ledger.accept(nonce, burnOf(1))
    clock.advance(60_000)
    const mint = { txNonce: 3, hash: hashOf(900), raw: '0x02', from: addressOf(7) } as const
    await ledger.recordMintSigned(mint, [nonce])
    await ledger.recordMintSigned({ ...mint, txNonce: 4 }, [nonce, nonceOf(2)])
    await ledger.finalize(nonce, { txHash: hashOf(900), value: units(1000n) }, units(1000n))
    const later = { at: start + 60, txHash: hashOf(900) }
    expect(await books.turns(nonce)).toEqual([
      { at: start, event: 'challenge_issued' },
      { at: start, event: 'payment_claimed' },
      { at: start, event: 'claim_released', reason: 'burn_failed', txHash: hashOf(8) },
      { at: start, event: 'payment_claimed' },
      { at: start, event: 'burn_unmatched', reason: 'underpaid', txHash: hashOf(9) },
      { at: start, event: 'payment_accepted', txHash: burnOf(1).txHash },
      { event: 'mint_signed', ...later },
      { event: 'payment_finalized', ...later },
    ])
    expect(await books.turns(nonceOf(5))).toEqual([])
    await close()
  })

  it('show each mint with the burns that could explain it, page by page', async () => {
    const clock = stoppedClock(start * 1000)
    const store = await openTestStore({}, clock)
    const burn = async (seed: number, value: bigint) => {
      const challenge = challengeOf(seed, { amount: units(value) })
      await store.ledger.issue(challenge)
      await store.ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
      await store.ledger.accept(challenge.nonce, { ...burnOf(seed), value: units(value) })
    }
    const mint = async (seed: number, value: bigint) => {
      clock.advance(1_000)
      await store.ledger.finalize(
        nonceOf(seed),
        { txHash: hashOf(seed + 100), value: units(value) },
        units(value),
      )
    }
    for (const seed of [1, 2, 3]) await burn(seed, 1000n)
    await burn(4, 7n)
    await mint(1, 1000n)
    await mint(4, 7n)
    await mint(2, 1000n)
    await burn(5, 1000n)
    const first = await store.books.mints(2)
    expect(first.mints).toMatchObject([
      { challengeNonce: nonceOf(2), mint: { txHash: hashOf(102) }, burned: 1000n, company: 3 },
      { challengeNonce: nonceOf(4), burned: 7n, company: 1, isBatch: false },
    ])
    const { mints, next } = await store.books.mints(2, first.next)
    expect([mints, next]).toMatchObject([[{ challengeNonce: nonceOf(1), company: 3 }], undefined])
    await store.close()
  })
})
