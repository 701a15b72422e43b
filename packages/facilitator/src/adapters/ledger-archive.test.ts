import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, hashOf, nonceOf, seconds, units } from '../../test/challenges.js'
import { anyEnded } from '../../test/ledger-events.js'
import { createLedgerArchive, type EndedPayment } from './ledger-archive.js'

const endedOf = (seed: number, changes: Partial<EndedPayment> = {}): EndedPayment => ({
  challenge: challengeOf(seed),
  identity: seed.toString(16).padStart(32, '0'),
  burn: burnOf(seed),
  at: seconds(1_700_000_100),
  ...changes,
})

describe('the archive of ended payments', () => {
  it('gives back exactly what was put in, or says that it does not fit', () => {
    fc.assert(
      fc.property(fc.array(anyEnded, { maxLength: 30 }), (payments) => {
        const archive = createLedgerArchive()
        const kept = payments.filter((payment) => archive.add(payment))
        for (const payment of kept) expect(archive.find(payment.challenge.nonce)).toEqual(payment)
        expect([...archive.all()]).toEqual(kept)
        expect(archive.size()).toBe(kept.length)
      }),
    )
  })

  it('takes every payment that can happen, to the last unit and second', () => {
    const archive = createLedgerArchive()
    const amount = units(2n ** 128n - 1n)
    const times = seconds(2 ** 48 - 2)
    const challenge = challengeOf(1, {
      amount,
      listPrice: amount,
      issuedAt: times,
      expiresAt: times,
      deadline: times,
      powNonce: Number.MAX_SAFE_INTEGER,
      issuedAtBlock: 2n ** 48n - 1n,
    })
    const burn = { ...burnOf(1), value: amount, blockNumber: 2n ** 48n - 1n, leafIndex: 2n ** 40n }
    const payment = endedOf(1, { challenge, burn, at: times })
    expect(archive.add(payment)).toBe(true)
    expect(archive.find(challenge.nonce)).toEqual(payment)
    expect(archive.add(endedOf(2, { burn: { ...burn, value: units(2n ** 128n) } }))).toBe(false)
    expect(archive.find(nonceOf(2))).toBeUndefined()
    expect(archive.size()).toBe(1)
  })

  it('tells a challenge without a deadline from one whose deadline is 0', () => {
    const archive = createLedgerArchive()
    const { deadline: _, ...without } = challengeOf(1)
    archive.add(endedOf(1, { challenge: without }))
    archive.add(endedOf(2, { challenge: challengeOf(2, { deadline: seconds(0) }) }))
    expect(archive.find(nonceOf(1))?.challenge).not.toHaveProperty('deadline')
    expect(archive.find(nonceOf(2))?.challenge.deadline).toBe(0)
  })

  it('finds each of many, also those whose nonces begin alike, and none that is not there', () => {
    const archive = createLedgerArchive()
    const count = 10_000
    for (let seed = 0; seed < count; seed++) {
      archive.add(endedOf(seed, { challenge: challengeOf(seed, { treasury: addressOf(seed % 3) }) }))
    }
    expect(archive.size()).toBe(count)
    for (let seed = 0; seed < count; seed += 97) {
      expect(archive.find(nonceOf(seed))).toMatchObject({
        challenge: { nonce: nonceOf(seed), treasury: addressOf(seed % 3) },
        burn: { txHash: hashOf(seed) },
      })
    }
    expect(archive.find(nonceOf(count))).toBeUndefined()
  })

  it('keeps the first of two with one nonce', () => {
    const archive = createLedgerArchive()
    archive.add(endedOf(1))
    expect(archive.add(endedOf(1, { at: seconds(5) }))).toBe(true)
    expect(archive.size()).toBe(1)
    expect(archive.find(nonceOf(1))?.at).toBe(1_700_000_100)
  })
})
