import { Payload } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, nonceOf, permitPayloadOf, units } from '../../../test/challenges.js'
import { eventKinds } from '../../../test/ledger-events.js'
import { decodeLine, encodeLine, type JournalFields } from '../journal/line.js'
import { fromFields, readEvent, toFields } from './event-line.js'
import { claimedPayload, type LedgerEvent } from './events.js'

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

  it('every kind has the bytes that earlier versions wrote', () => {
    const challenge = challengeOf(1)
    const { nonce } = challenge
    const burn = burnOf(1)
    const at = challenge.issuedAt
    const mint = { txHash: burn.txHash, blockNumber: 9n, value: burn.value }
    const transaction = { txNonce: 7, hash: burn.txHash, raw: '0x02' } as const
    const permit = permitPayloadOf(challenge)
    const identity = 'ab'.repeat(16)
    const challengeText = `{"nonce":"${nonce}","payTo":"${challenge.payTo}","amount":"${challenge.amount}","listPrice":"${challenge.listPrice}","issuedAt":${at},"expiresAt":${challenge.expiresAt},"deadline":${challenge.deadline},"powNonce":${challenge.powNonce},"treasury":"${challenge.treasury}","issuedAtBlock":"${challenge.issuedAtBlock}"}`
    const burnText = `{"txHash":"${burn.txHash}","blockNumber":"${burn.blockNumber}","blockHash":"${burn.blockHash}","leafIndex":"${burn.leafIndex}","from":"${burn.from}","value":"${burn.value}"}`
    const mintText = `{"txHash":"${burn.txHash}","blockNumber":"9","value":"${burn.value}"}`
    const signedText = `"nonces":["${nonce}"],"transaction":{"nonce":7,"hash":"${burn.txHash}","raw":"0x02"}`
    const binding = {
      relayer: { nonce: 3, address: burn.from },
      ...{ generation: 1, id: identity, seed: '12'.repeat(8), helper: burn.from },
      ...{ token: challenge.treasury, chainId: 31337 },
    }
    const sweep = { recipient: burn.from, amount: burn.value, nonces: [nonce] }
    const sweepText = `"recipient":"${burn.from}","amount":"1000"`
    const sent = { txHash: burn.txHash, blockNumber: 9n }
    const sentText = `"txHash":"${burn.txHash}","blockNumber":"9"`
    const lines: [LedgerEvent, string][] = [
      [
        { event: 'ledger_bound', binding },
        `"binding":{"chainId":31337,"token":"${challenge.treasury}","helper":"${burn.from}","seed":"${'12'.repeat(8)}","id":"${identity}","generation":1,"relayer":{"address":"${burn.from}","nonce":3}}`,
      ],
      [{ event: 'challenge_issued', challenge }, `"challenge":${challengeText}`],
      [
        { event: 'payment_claimed', nonce, identity, ticketed: true, payload: claimedPayload(permit) },
        `"nonce":"${nonce}","identity":"${identity}","ticketed":true,"payload":${JSON.stringify(Payload.toWire(permit))}`,
      ],
      [{ event: 'burn_signed', nonces: [nonce], transaction }, signedText],
      [{ event: 'claim_released', nonce }, `"nonce":"${nonce}"`],
      [{ event: 'payment_accepted', nonce, burn, at }, `"nonce":"${nonce}","burn":${burnText},"at":${at}`],
      [{ event: 'payment_demoted', nonce }, `"nonce":"${nonce}"`],
      [{ event: 'burn_moved', nonce, burn }, `"nonce":"${nonce}","burn":${burnText}`],
      [{ event: 'mint_signed', nonces: [nonce], transaction }, signedText],
      [
        { event: 'payment_finalized', nonce, mint, at, burned: burn.value },
        `"nonce":"${nonce}","mint":${mintText},"at":${at},"burned":"${burn.value}"`,
      ],
      [
        { event: 'burn_late', challenge, burn, reason: 'second' },
        `"challenge":${challengeText},"burn":${burnText},"reason":"second"`,
      ],
      [
        { event: 'burn_unmatched', nonce, txHash: burn.txHash, reason: 'burn_split', at },
        `"nonce":"${nonce}","txHash":"${burn.txHash}","reason":"burn_split","at":${at}`,
      ],
      [{ event: 'grant_used', nonce }, `"nonce":"${nonce}"`],
      [
        {
          event: 'payment_recorded',
          ...{ challenge, identity, ticketed: false, burn, at, granted: true, finalized: { mint, at } },
        },
        `"challenge":${challengeText},"identity":"${identity}","ticketed":false,"burn":${burnText},"at":${at},"granted":true,"finalized":{"mint":${mintText},"at":${at}}`,
      ],
      [{ event: 'sweep_signed', ...sweep, transaction }, `${sweepText},${signedText}`],
      [{ event: 'sweep_ended', txNonce: 7, at, ...sent }, `"nonce":7,"at":${at},${sentText}`],
      [
        { event: 'sweep_found', ...sweep, ...sent, at },
        `${sweepText},"nonces":["${nonce}"],${sentText},"at":${at}`,
      ],
      [
        {
          event: 'fees_swept',
          ...{ sweeps: 2, payments: 3, amount: burn.value, nonces: [nonce] },
          last: { recipient: burn.from, amount: burn.value, payments: 1, ...sent, at },
        },
        `"sweeps":2,"payments":3,"amount":"1000","last":{${sweepText},"payments":1,${sentText},"at":${at}},"nonces":["${nonce}"]`,
      ],
      [
        { event: 'distribution_signed', transaction },
        `"transaction":{"nonce":7,"hash":"${burn.txHash}","raw":"0x02"}`,
      ],
      [{ event: 'distribution_ended', txNonce: 7 }, '"nonce":7'],
    ]
    expect(lines.map(([{ event }]) => event).sort()).toEqual(eventKinds.map(([kind]) => kind).sort())
    for (const [event, text] of lines) {
      expect(JSON.stringify(toFields(event))).toBe(`{"event":"${event.event}",${text}}`)
    }
  })

  it('a fee is the last field of a challenge', () => {
    const fee = {
      ...{ amount: units(12n), bps: 50, chargeTo: 'payer' as const },
      recipient: addressOf(0xfe),
    }
    const fields = toFields({ event: 'challenge_issued', challenge: challengeOf(1, { fee }) })
    const { amount, bps, chargeTo, recipient } = fee
    const feeText = `"fee":{"amount":"${amount}","bps":${bps},"chargeTo":"${chargeTo}","recipient":"${recipient}"}`
    expect(JSON.stringify(fields)).toContain(`"issuedAtBlock":"0",${feeText}}`)
    const wrong = { ...(fields.challenge as object), fee: { ...fee, amount: '12', chargeTo: 'nobody' } }
    expect(() => readEvent(lineOf({ ...fields, challenge: wrong }))).toThrow('is no bearer of a fee')
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
          transaction: { txNonce: 0, hash: burnOf(1).txHash, raw: '0x02' },
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
