import { amountLimit } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, units } from '../../../test/challenges.js'
import { splitOf } from '../../../test/splitter.js'
import type { FeeTerms } from './fee.js'
import { quote } from './fee.js'

const termsOf = (changes: Partial<FeeTerms> = {}): FeeTerms => ({
  bps: 250,
  minPerPayment: units(0n),
  chargeTo: 'payer',
  recipient: addressOf(9),
  ...changes,
})
const quoteOf = (listPrice: bigint, changes: Partial<FeeTerms> = {}) =>
  quote(units(listPrice), { minAmount: 0n, fee: termsOf(changes) })

/** Small numbers, where rounding counts, and numbers up to the bound of an amount. */
const anyUnits = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 30_000n }),
    fc.bigInt({ min: 0n, max: amountLimit - 1n }),
    fc.bigInt({ min: amountLimit - 10n, max: amountLimit - 1n }),
  )
  .map(units)
const anyTerms: fc.Arbitrary<FeeTerms> = fc.record({
  bps: fc.oneof(fc.constantFrom(0, 1, 9_999, 10_000), fc.integer({ min: 0, max: 10_000 })),
  minPerPayment: fc.oneof(fc.constant(units(0n)), anyUnits),
  chargeTo: fc.constantFrom('payer', 'provider'),
})

describe('a quote with a fee', () => {
  it('R-011 is list price and fee together when the payer bears the fee', () => {
    expect(quoteOf(1_000n)).toEqual({
      ok: true,
      value: {
        listPrice: 1_000n,
        amount: 1_025n,
        fee: { amount: 25n, bps: 250, chargeTo: 'payer', recipient: addressOf(9) },
      },
    })
  })

  it('is the list price when the provider bears the fee', () => {
    const { recipient: _, ...split } = termsOf({ chargeTo: 'provider' })
    expect(quote(units(1_000n), { minAmount: 0n, fee: split })).toEqual({
      ok: true,
      value: { listPrice: 1_000n, amount: 1_000n, fee: { amount: 25n, bps: 250, chargeTo: 'provider' } },
    })
  })

  it.each([
    // list price, bps, least fee, fee
    [1n, 1, 0n, 1n],
    [1n, 10_000, 0n, 1n],
    [1n, 0, 0n, 0n],
    [9_999n, 1, 0n, 1n],
    [10_000n, 1, 0n, 1n],
    [10_001n, 1, 0n, 2n],
    [10_001n, 1, 2n, 2n],
    [10_001n, 1, 3n, 3n],
    [1n, 0, 7n, 7n],
    // The examples of docs/guides/fees.md.
    [1_000n, 250, 0n, 25n],
    [1_001n, 250, 0n, 26n],
    [3n, 250, 0n, 1n],
    [100n, 250, 10n, 10n],
    [10n, 250, 10n, 10n],
    [250_000n, 0, 10n, 10n],
  ])('of %s at %s basis points, at least %s, has the fee %s', (listPrice, bps, least, fee) => {
    const quoted = quoteOf(listPrice, { bps, minPerPayment: units(least) })
    expect(quoted).toMatchObject({ ok: true, value: { amount: listPrice + fee, fee: { amount: fee } } })
  })

  it('R-017 refuses a fee that leaves the provider nothing, and says so without the fee', () => {
    const refused = (message: string) => ({ ok: false, reason: 'invalid_amount', message })
    const provider = { chargeTo: 'provider', minPerPayment: units(100n) } as const
    expect(quoteOf(99n, provider)).toEqual(refused('the fee leaves the provider nothing of 99'))
    expect(quoteOf(100n, provider)).toEqual(refused('the fee leaves the provider nothing of 100'))
    expect(quoteOf(101n, provider).ok).toBe(true)
    expect(quoteOf(1n, { chargeTo: 'provider', bps: 1 }).ok).toBe(false)
  })

  it('refuses a fee that makes the amount too large for the chain', () => {
    const most = ((amountLimit - 1n) * 10_000n) / 10_250n
    expect(quoteOf(most).ok).toBe(true)
    expect(quoteOf(most + 1n)).toMatchObject({
      ok: false,
      reason: 'invalid_amount',
      message: expect.stringContaining('the amount is not below 2^248'),
    })
    expect(quoteOf(amountLimit - 1n, { chargeTo: 'provider' }).ok).toBe(true)
  })

  it('has exact parts, whatever the price and the terms', () => {
    fc.assert(
      fc.property(anyUnits, anyTerms, (listPrice, terms) => {
        const quoted = quote(listPrice, { minAmount: 0n, fee: terms })
        if (!quoted.ok) {
          expect(quoted.reason).toBe('invalid_amount')
          return
        }
        const { amount, fee } = quoted.value
        if (fee === undefined) throw new Error('the fee is missing')
        const due = amount - fee.amount
        expect(amount < amountLimit && fee.amount >= 0n && due > 0n).toBe(true)
        // Rounded up: never less than the share, and less than one unit more, unless the minimum is larger.
        const share = listPrice * BigInt(terms.bps)
        expect(fee.amount * 10_000n).toBeGreaterThanOrEqual(share)
        expect(fee.amount).toBeGreaterThanOrEqual(terms.minPerPayment)
        if (fee.amount > terms.minPerPayment) expect((fee.amount - 1n) * 10_000n).toBeLessThan(share)
        expect(terms.chargeTo === 'payer' ? due : amount).toBe(listPrice)
      }),
    )
  })
})

describe('a quote in split mode', () => {
  /** Payments of one configuration, each with the number of the distribution that pays it out. */
  const anySales = fc.array(fc.record({ listPrice: anyUnits, distribution: fc.nat({ max: 3 }) }), {
    maxLength: 40,
  })

  it('gives the provider its due, however many payments are split at once', () => {
    fc.assert(
      fc.property(anySales, fc.integer({ min: 1, max: 10_000 }), fc.boolean(), (sales, bps, payerPays) => {
        const terms = termsOf({ bps, chargeTo: payerPays ? 'payer' : 'provider' })
        const balances = new Map<number, { balance: bigint; due: bigint; payments: bigint }>()
        for (const { listPrice, distribution } of sales) {
          const quoted = quote(listPrice, { minAmount: 0n, fee: terms })
          if (!quoted.ok) continue
          const { amount, fee } = quoted.value
          const { balance, due, payments } = balances.get(distribution) ?? {
            balance: 0n,
            due: 0n,
            payments: 0n,
          }
          balances.set(distribution, {
            balance: balance + amount,
            due: due + amount - (fee?.amount ?? 0n),
            payments: payments + 1n,
          })
        }
        for (const { balance, due, payments } of balances.values()) {
          const { toProvider, toFeeRecipient } = splitOf(balance, { bps, payerPays })
          expect(toProvider + toFeeRecipient).toBe(balance)
          // Fees are rounded up in quotes and down in splits: at most a unit for each payment, and one for the split.
          expect(toProvider).toBeGreaterThanOrEqual(due)
          expect(toProvider - due).toBeLessThanOrEqual(payments + 1n)
        }
      }),
    )
  })
})
