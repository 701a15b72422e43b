import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, nonceOf, permitPayloadOf } from '../../test/challenges.js'
import { eventKinds } from '../../test/ledger-events.js'
import { decodeLine, encodeLine, type JournalFields } from './journal-line.js'
import { fromFields, type LedgerEvent, toFields } from './ledger-event.js'

/** Through the bytes of a journal line and back. */
function reread(event: LedgerEvent): LedgerEvent {
  const decoded = decodeLine(encodeLine(1, toFields(event)).slice(0, -1))
  if (!decoded.ok) throw new Error(decoded.message)
  return fromFields(decoded.value.fields)
}

describe('ledger events', () => {
  it.each(eventKinds)('%s reads from its line as it was written', (_, anyEvent) => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(reread(event)).toEqual(event)
      }),
    )
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
          payload: permitPayloadOf(challenge),
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
