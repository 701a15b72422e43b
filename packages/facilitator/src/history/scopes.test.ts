import { accept } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  deployment,
  epochOfSecond,
  hashOf,
  nonceOf,
  seconds,
  units,
} from '../../test/challenges.js'
import {
  dayOfAll,
  dayTold,
  historyPaymentOf,
  nextMidnight,
  noon,
  payerA,
  payerB,
  toldFrom,
} from '../../test/history-payments.js'
import {
  boundsOf,
  dayOf,
  finalityToldBefore,
  type Sight,
  seenBy,
  sightOf,
  totalsSeenBy,
  turnsSeenBy,
} from './scopes.js'

const { treasury } = deployment
const withAddress = { payer: { address: payerA }, provider: {} }
const provider = sightOf('provider', withAddress, treasury)
const payer = sightOf('payer', withAddress, treasury)
const byNonce = sightOf('payer', { payer: {}, provider: { address: payerA } }, treasury)

/** The last second in which a payer is not told of a mint, and the first in which it is. */
const sameDay = seconds(toldFrom - 1)
const dayAfter = seconds(toldFrom)

const full = historyPaymentOf(1, {
  finalizedAt: noon + 600,
  late: { value: units(1500n) },
  lateMintedAt: noon + 700,
  unmatched: [{ txHash: hashOf(0xeee), reason: 'burn_underpaid', at: seconds(noon - 10) }],
  challenge: {
    fee: { amount: units(30n), bps: 300, chargeTo: 'payer', recipient: addressOf(0xfee) },
    epoch: epochOfSecond(1_699_920_000),
    powNonce: 123_456_789,
  },
})

/** Everything that a value holds, at any depth, as text. */
const textOf = (value: unknown) =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}` : inner))

describe('R-125 the provider', () => {
  it('sees payments of its treasury with mint and exact times', () => {
    const seen = seenBy(provider, full, sameDay)
    expect(seen).toMatchObject({
      phase: 'finalized',
      treasury,
      fee: { amount: 30n, bps: 300, chargeTo: 'payer' },
      accepted: { at: noon, value: 1000n },
      finalized: { on: dayOfAll, at: noon + 600, mint: { txHash: full.finalized?.mint.txHash } },
      late: { value: 1500n, finalized: { at: noon + 700 } },
    })
    expect(turnsSeenBy(provider, full, sameDay)).toEqual(full.turns.map(({ kind, at }) => ({ kind, at })))
  })

  it('does not see payments of another treasury', () => {
    const other = historyPaymentOf(2, { challenge: { treasury: addressOf(0x77) } })
    expect(seenBy(provider, other, sameDay)).toBeUndefined()
    expect(seenBy(provider, undefined, sameDay)).toBeUndefined()
  })

  it('sees no payer, no burn address, no burn and no leaf until the payer discloses them', () => {
    const text = textOf([seenBy(provider, full, dayAfter), turnsSeenBy(provider, full, dayAfter)])
    for (const hidden of [payerA, full.challenge.payTo, full.accepted?.burn.txHash, full.late?.burn.txHash]) {
      expect(text).not.toContain(hidden)
    }
    expect(text).not.toMatch(/leafIndex|payTo|payer":/)
    const disclosed = seenBy(provider, { ...full, disclosedAt: seconds(noon + 900) }, dayAfter)
    expect(disclosed).toMatchObject({
      payer: payerA,
      payTo: full.challenge.payTo,
      disclosedAt: noon + 900,
      accepted: { burn: { txHash: full.accepted?.burn.txHash, leafIndex: 1n } },
      late: { burn: { txHash: full.late?.burn.txHash } },
    })
  })

  it('one payer cannot disclose another that burned to the same address', () => {
    const second = historyPaymentOf(3, { late: { from: payerB }, disclosedAt: noon + 900 })
    const text = textOf(seenBy(provider, second, dayAfter))
    expect(text).toContain(payerA)
    expect(text).not.toContain(payerB)
    expect(text).not.toContain(second.late?.burn.txHash)
  })
})

describe('R-125 a payer with an address', () => {
  it('sees its own payments with address and burn, and nobody else’s', () => {
    expect(seenBy(payer, full, sameDay)).toMatchObject({
      payer: payerA,
      payTo: full.challenge.payTo,
      accepted: { burn: { txHash: full.accepted?.burn.txHash, blockNumber: 1n, leafIndex: 1n } },
    })
    expect(seenBy(payer, historyPaymentOf(4, { payer: payerB }), sameDay)).toBeUndefined()
    expect(seenBy(payer, historyPaymentOf(5, { accepted: false }), sameDay)).toBeUndefined()
  })

  it('does not see the burn that somebody else made beside its own', () => {
    const second = historyPaymentOf(6, {
      late: { from: payerB },
      finalizedAt: noon + 100,
      lateMintedAt: noon + 86_400,
    })
    const later = seconds(nextMidnight + 86_400)
    expect(seenBy(payer, second, later)).not.toHaveProperty('late')
    const turns = turnsSeenBy(payer, second, later)
    expect(turns.map(({ kind }) => kind)).toEqual(['challenged', 'accepted', 'finalized'])
    expect(turns.at(-1)).toEqual({ kind: 'finalized', on: dayTold })
    const together = { ...second, lateMinted: second.finalized, turns: [...second.turns, ...second.turns] }
    const finals = turnsSeenBy(payer, together as never, later).filter(({ kind }) => kind === 'finalized')
    expect(finals).toHaveLength(1)
  })

  it('does not see the time of a smaller late burn, which may be somebody else’s, before its own', () => {
    const mine = historyPaymentOf(6, { accepted: false, late: {} })
    const before = { seq: 59, kind: 'late' as const, at: seconds(noon + 7) }
    const turns = [...mine.turns.slice(0, 1), before, ...mine.turns.slice(1)]
    const told = turnsSeenBy(payer, { ...mine, turns }, sameDay)
    expect(told).toEqual([
      { kind: 'challenged', at: noon - 30 },
      { kind: 'late', at: noon + 60 },
    ])
    expect(turnsSeenBy(provider, { ...mine, turns }, sameDay)).toHaveLength(3)
  })

  it('sees no fee that the provider bears', () => {
    const fee = { amount: units(30n), bps: 300, chargeTo: 'provider' as const }
    const payment = historyPaymentOf(7, { challenge: { fee } })
    expect(seenBy(payer, payment, sameDay)).not.toHaveProperty('fee')
    expect(seenBy(provider, payment, sameDay)).toHaveProperty('fee')
  })
})

describe('R-125 a payer without an address', () => {
  it('sees any payment whose nonce it presents, and no address or burn in it', () => {
    const seen = seenBy(byNonce, full, dayAfter)
    expect(seen).toMatchObject({ challengeNonce: nonceOf(1), phase: 'finalized', amount: 1000n })
    const text = textOf([seen, turnsSeenBy(byNonce, full, dayAfter)])
    expect(text).not.toMatch(/leafIndex|txHash|payTo|payer":|blockNumber/)
    expect(text).not.toContain(payerA)
    expect(seenBy(byNonce, historyPaymentOf(5, { accepted: false }), sameDay)?.phase).toBe('challenged')
  })
})

describe.each<[string, Sight]>([
  ['with an address', payer],
  ['without one', byNonce],
])('finality for a payer %s', (_, sight) => {
  it('is a day, and only once the day is over', () => {
    for (const now of [seconds(noon + 600), sameDay]) {
      const seen = seenBy(sight, full, now)
      expect(seen?.phase).toBe('accepted')
      expect(textOf([seen, turnsSeenBy(sight, full, now)])).not.toContain('finalized')
    }
    const seen = seenBy(sight, full, dayAfter)
    expect(seen?.phase).toBe('finalized')
    expect(seen?.finalized).toEqual({ on: dayTold })
    expect(seen?.late?.finalized).toEqual({ on: dayTold })
  })

  it('of a late burn is told the same way', () => {
    const late = historyPaymentOf(8, { accepted: false, late: {}, finalizedAt: noon + 600 })
    expect(seenBy(sight, late, sameDay)?.phase).toBe('late')
    expect(seenBy(sight, late, dayAfter)).toMatchObject({ phase: 'finalized', finalized: { on: dayTold } })
  })

  it('is a day behind the burn or later, so that a burn just before midnight does not tell the minute', () => {
    const soon = historyPaymentOf(9, { at: nextMidnight - 120, finalizedAt: nextMidnight - 60 })
    expect(seenBy(sight, soon, seconds(nextMidnight))?.phase).toBe('accepted')
    expect(seenBy(sight, soon, dayAfter)?.finalized).toEqual({ on: dayTold })
    const slow = historyPaymentOf(9, { finalizedAt: toldFrom + 60 })
    expect(seenBy(sight, slow, seconds(toldFrom + 86_399))?.phase).toBe('accepted')
    expect(seenBy(sight, slow, seconds(toldFrom + 86_400))?.finalized).toEqual({
      on: dayOf(seconds(toldFrom)),
    })
  })

  it('shows no mint, treasury, recipient, second or place among the turns of the day', () => {
    const disclosed = { ...full, disclosedAt: seconds(noon + 900) }
    const earlier = historyPaymentOf(1, { finalizedAt: noon + 600, disclosedAt: noon + 500 })
    const later = historyPaymentOf(1, { finalizedAt: noon + 600, disclosedAt: noon + 700 })
    const kinds = [earlier, later].map((payment) =>
      turnsSeenBy(sight, payment, dayAfter).map(({ kind }) => kind),
    )
    expect(kinds[0]).toEqual(['challenged', 'accepted', 'disclosed', 'finalized'])
    expect(kinds[1]).toEqual(kinds[0])
    const text = textOf([seenBy(sight, disclosed, dayAfter), turnsSeenBy(sight, disclosed, dayAfter)])
    const { finalized, lateMinted, challenge } = full
    for (const hidden of [
      finalized?.mint.txHash,
      lateMinted?.mint.txHash,
      finalized?.at,
      lateMinted?.at,
      challenge.treasury,
      challenge.fee?.recipient,
      challenge.epoch?.start,
      challenge.epoch?.ledger,
      challenge.powNonce,
      hashOf(0xeee),
    ]) {
      expect(text).not.toContain(`${hidden}`)
    }
    expect(text).not.toMatch(/"seq"|"mint"/)
  })
})

describe('bounds', () => {
  it('the day of finality begins at midnight in UTC', () => {
    expect(finalityToldBefore(seconds(nextMidnight - 1))).toBe(nextMidnight - 86_400)
    expect(finalityToldBefore(seconds(nextMidnight))).toBe(nextMidnight)
    expect(dayOf(seconds(nextMidnight - 1))).toBe(dayOfAll)
    expect(dayOf(seconds(nextMidnight))).toBe(dayTold)
  })

  it('a payer’s question has a bound of finality, the provider’s has none', () => {
    expect(boundsOf(provider, sameDay)).toEqual(accept({ scope: { kind: 'treasury', treasury } }))
    expect(boundsOf(byNonce, sameDay)).toMatchObject({ ok: false, reason: 'nonce_required' })
    expect(boundsOf(payer, sameDay)).toEqual(
      accept({ scope: { kind: 'payer', payer: payerA }, finalityBefore: nextMidnight }),
    )
  })

  it('a payer’s totals have no fees and no finalized', () => {
    const sum = { payments: 1, amount: 5n }
    const totals = { accepted: sum, fees: sum, late: sum, finalized: sum }
    expect(totalsSeenBy(provider, totals)).toEqual(totals)
    expect(Object.keys(totalsSeenBy(payer, totals))).toEqual(['accepted', 'late'])
  })
})
