import { expect, it } from 'vitest'
import type { Quote } from '../payer/quote.js'
import { createQuotesTold } from './quotes-told.js'

const url = 'http://shop.example/thing'
const token = '0x1'
const quoteOf = (...offers: readonly { amount: bigint; isAllowed: boolean }[]) =>
  ({
    url,
    method: 'GET',
    status: offers.length > 0 ? 402 : 200,
    offers: offers.map(({ amount, isAllowed }) => ({ offer: { token, amount }, isAllowed })),
  }) as unknown as Quote

it.each([
  ['the price that was told', quoteOf({ amount: 10n, isAllowed: true }), { token, amount: 10n }],
  [
    'the lowest price of several',
    quoteOf({ amount: 10n, isAllowed: true }, { amount: 4n, isAllowed: true }),
    { token, amount: 4n },
  ],
  ['nothing where it said free', quoteOf(), 'nothing'],
  ['nothing where it said refused', quoteOf({ amount: 10n, isAllowed: false }), 'nothing'],
])('a quote binds to %s, whatever follows a # in the URL', (_, quote, bound) => {
  const quotes = createQuotesTold()
  quotes.told(quote)
  expect(quotes.of(new Request(url))).toEqual(bound)
  expect(quotes.of(new Request(`${url}#elsewhere`))).toEqual(bound)
  expect(quotes.of(new Request(`${url}/other`))).toBeUndefined()
})

it('a quote of one tool binds no other tool of the server', () => {
  const quotes = createQuotesTold()
  quotes.told({ ...quoteOf(), url: `${url}#search`, method: 'CALL' })
  expect(quotes.of(new Request(`${url}#search`, { method: 'CALL' }))).toBe('nothing')
  expect(quotes.of(new Request(`${url}#fetch`, { method: 'CALL' }))).toBeUndefined()
})
