import type { BaseUnits, UnixSeconds } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { challengeOf } from '../../test/challenges.js'
import { countsOf, pageOf, type RecordedPayment } from './books.js'
import type { Burn } from './records.js'

const burn = {
  txHash: '0x',
  blockNumber: 1n,
  blockHash: '0x',
  leafIndex: 0n,
  from: '0x',
  value: 1n,
} as unknown as Burn

const paymentOf = (n: number, issuedAt: number, more: Partial<RecordedPayment> = {}): RecordedPayment => ({
  challenge: {
    ...challengeOf(n),
    amount: 1n as BaseUnits,
    issuedAt: issuedAt as UnixSeconds,
    expiresAt: (issuedAt + 300) as UnixSeconds,
  },
  granted: false,
  ...more,
})
const accepted = { burn, at: 50 as UnixSeconds }

describe('pages of the ledger', () => {
  it('show every payment once, newest first, however many are asked for at a time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        (times, limit) => {
          const payments = times.map((at, i) => paymentOf(i + 1, at))
          const seen: RecordedPayment[] = []
          let page = pageOf(payments, { limit }, 0)
          seen.push(...page.payments)
          while (page.next && seen.length <= payments.length) {
            expect(page.payments).toHaveLength(limit)
            page = pageOf(payments, { limit, after: page.next }, 0)
            seen.push(...page.payments)
          }
          expect(new Set(seen)).toEqual(new Set(payments))
          expect(seen).toHaveLength(payments.length)
          const issued = seen.map(({ challenge }) => challenge.issuedAt)
          expect(issued).toEqual([...issued].sort((a, b) => b - a))
        },
      ),
    )
  })

  it('do not shift when a payment is issued between two of them', () => {
    const payments = [1, 2, 3, 4].map((n) => paymentOf(n, n))
    const first = pageOf(payments, { limit: 2 }, 0)
    const [next] = pageOf(
      [...payments, paymentOf(5, 5)],
      { limit: 2, ...(first.next && { after: first.next }) },
      0,
    ).payments
    expect(next?.challenge.issuedAt).toBe(2)
  })

  it('filter by phase, time and late burns', () => {
    const payments = [
      paymentOf(1, 100),
      paymentOf(2, 200, { accepted, claim: { identity: 'a', ticketed: false } }),
      paymentOf(3, 300, { late: burn }),
      paymentOf(4, 1000),
    ]
    const now = 700_000
    const numbers = (query: Omit<Parameters<typeof pageOf>[1], 'limit'>) =>
      pageOf(payments, { limit: 9, ...query }, now).payments.map((payment) => payments.indexOf(payment) + 1)
    expect(numbers({})).toEqual([4, 3, 2, 1])
    expect(numbers({ phase: 'accepted' })).toEqual([2])
    expect(numbers({ phase: 'expired' })).toEqual([3, 1])
    expect(numbers({ phase: 'open' })).toEqual([4])
    expect(numbers({ since: 200, until: 1000 })).toEqual([3, 2])
    expect(numbers({ isLate: true })).toEqual([3])
    expect(countsOf(payments, now)).toEqual({
      open: 1,
      expired: 2,
      accepted: 1,
      finalized: 0,
      claimed: 0,
      late: 1,
      found: 0,
      unmatched: 0,
    })
  })
})
