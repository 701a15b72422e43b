import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, nonceOf, permitPayloadOf } from '../../test/challenges.js'
import { eventKinds } from '../../test/ledger-events.js'
import { claimedPayload, fromFields, type LedgerEvent, toFields } from './events.js'
import { decodeLine, encodeLine, type JournalFields } from './journal/line.js'
import { readEvent } from './line.js'

/** Through the bytes of a journal line and back. */
function lineOf(fields: JournalFields, seq = 1) {
  const decoded = decodeLine(Buffer.from(encodeLine(seq, fields).slice(0, -1)))
  if (!decoded.ok) throw new Error(decoded.message)
  return decoded.value
}

/** With the payload read, if it has one. */
const plain = (event: LedgerEvent) =>
  event.event === 'payment_claimed' ? { ...event, payload: event.payload.read() } : event

describe('ledger events', () => {
  it.each(eventKinds)('%s reads from its line as it was written', (_, anyEvent) => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(plain(readEvent(lineOf(toFields(event))))).toEqual(plain(event))
      }),
    )
  })

  it.each(eventKinds)('%s is the same event the short and the long way', (_, anyEvent) => {
    fc.assert(
      fc.property(anyEvent, fc.nat(), (event, seq) => {
        const fields = toFields(event)
        expect(plain(readEvent(lineOf(fields, seq + 1)))).toEqual(plain(fromFields(fields)))
        // Only the long way knows this order.
        const turned = Object.fromEntries(Object.entries(fields).reverse()) as JournalFields
        expect(plain(readEvent(lineOf(turned)))).toEqual(plain(event))
      }),
    )
  })

  it('what only looks like a known form is judged the long way', () => {
    const { event, challenge } = toFields({ event: 'challenge_issued', challenge: challengeOf(1) })
    const wrong = { event, challenge: { ...(challenge as object), payTo: '0xzz' } }
    expect(() => readEvent(lineOf(wrong))).toThrow('"0xzz" is no address')
    const large = { event, challenge: { ...(challenge as object), powNonce: 2 ** 53 } }
    expect(() => readEvent(lineOf(large))).toThrow('is no number')
  })

  it('no secret is in any of them: what a challenge keeps derives nothing without the seed', () => {
    const fields = toFields({ event: 'challenge_issued', challenge: challengeOf(1) })
    expect(Object.keys(fields.challenge as object).sort()).toEqual([
      'amount',
      'deadline',
      'expiresAt',
      'issuedAt',
      'issuedAtBlock',
      'listPrice',
      'nonce',
      'payTo',
      'powNonce',
      'treasury',
    ])
  })

  const challenge = challengeOf(1)
  const good: Record<string, JournalFields> = Object.fromEntries(
    (
      [
        { event: 'challenge_issued', challenge },
        {
          event: 'payment_claimed',
          nonce: nonceOf(1),
          identity: 'ab'.repeat(16),
          ticketed: true,
          payload: claimedPayload(permitPayloadOf(challenge)),
        },
        { event: 'payment_accepted', nonce: nonceOf(1), burn: burnOf(1), at: challenge.issuedAt },
        {
          event: 'burn_signed',
          nonces: [nonceOf(1)],
          transaction: { nonce: 0, hash: burnOf(1).txHash, raw: '0x02' },
        },
      ] satisfies LedgerEvent[]
    ).map((event) => [event.event, toFields(event)]),
  )
  const broken = (event: string, changes: object): JournalFields => ({ ...good[event], event, ...changes })

  it.each([
    [broken('challenge_issued', { challenge: { ...challenge, amount: 5 } }), '5 is no number'],
    [broken('challenge_issued', { challenge: { ...challenge, payTo: '0x12' } }), '"0x12" is no address'],
    [broken('challenge_issued', { event: 'challenge_eaten' }), 'the event challenge_eaten is unknown'],
    [broken('payment_claimed', { nonce: undefined }), 'undefined is no challenge nonce'],
    [broken('payment_claimed', { identity: 'x' }), '"x" is no identity'],
    [broken('payment_claimed', { payload: {} }), 'challengeNonce: not 32 bytes of hex'],
    [broken('payment_accepted', { at: -1 }), '-1 is no time'],
    [broken('payment_accepted', { burn: { ...burnOf(1), txHash: '' } }), '"" is no transaction hash'],
    [
      broken('burn_signed', { transaction: { nonce: 0, hash: burnOf(1).txHash, raw: 'zz' } }),
      'a transaction is not hex',
    ],
    [
      broken('burn_signed', { transaction: { nonce: 0.5, hash: burnOf(1).txHash, raw: '0x02' } }),
      '0.5 is no number',
    ],
  ])('a record that says something else is named: %#', (fields, message) => {
    expect(() => fromFields(fields)).toThrow(message)
  })

  it('fields that a later version adds are passed over', () => {
    expect(fromFields({ ...toFields({ event: 'grant_used', nonce: nonceOf(1) }), note: 'new' })).toEqual({
      event: 'grant_used',
      nonce: nonceOf(1),
    })
  })
})
