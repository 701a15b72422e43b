import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  burnOf,
  challengeOf,
  epochOfSecond,
  hashOf,
  nonceOf,
  seconds,
  units,
} from '../../../test/challenges.js'
import { anyEnded } from '../../../test/ledger-events.js'
import { createLedgerArchive } from './archive.js'
import type { EndedPayment } from './packing.js'

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
        expect([...archive.snapshot()]).toEqual(kept)
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

  it('keeps the fee of each payment, whoever bears it and whoever gets it', () => {
    const archive = createLedgerArchive()
    const [amount, listPrice] = [units(2n ** 128n - 1n), units(2n ** 127n)]
    const onTop = units(amount - listPrice)
    const challenges = [
      challengeOf(1, { amount, listPrice, fee: { amount: onTop, bps: 1, chargeTo: 'payer' } }),
      challengeOf(2, { amount, listPrice, fee: { amount: onTop, bps: 2, chargeTo: 'payer' } }),
      challengeOf(3, {
        ...{ amount, listPrice },
        fee: { amount: onTop, bps: 1, chargeTo: 'payer', recipient: addressOf(8) },
      }),
      challengeOf(4, {
        ...{ amount, listPrice: amount },
        fee: { amount: listPrice, bps: 1, chargeTo: 'provider', recipient: addressOf(9) },
      }),
      challengeOf(5),
      challengeOf(6, { fee: { amount: units(0n), bps: 0, chargeTo: 'provider', recipient: addressOf(9) } }),
    ]
    for (const challenge of challenges) expect(archive.add(endedOf(1, { challenge }))).toBe(true)
    for (const challenge of challenges) {
      expect(archive.find(challenge.nonce)).toStrictEqual(endedOf(1, { challenge }))
    }
  })

  it('lists open fees of minted payments until a sweep has taken them, also after a payment came back', () => {
    const archive = createLedgerArchive()
    const prices = { amount: units(1_010n), listPrice: units(1_000n) }
    const onTop = { amount: units(10n), bps: 100, chargeTo: 'payer' } as const
    const recipient = addressOf(8)
    const challenges = [
      challengeOf(1, { ...prices, fee: { ...onTop, recipient } }),
      challengeOf(2, { ...prices, fee: { ...onTop, recipient } }),
      challengeOf(3, { ...prices, fee: onTop }),
      challengeOf(4, { fee: { amount: units(0n), bps: 0, chargeTo: 'provider', recipient } }),
      challengeOf(5),
    ]
    const [first, second] = challenges
    if (!first || !second) throw new Error('the test lacks a payment')
    const finalized = { mint: { value: units(1_010n) }, at: seconds(1_700_000_200) }
    const open = () => [...archive.withOpenFee()].map(({ challenge }) => challenge.nonce)
    archive.add(endedOf(1, { challenge: first }))
    for (const challenge of challenges.slice(1)) archive.add(endedOf(1, { challenge, finalized }))
    expect(open()).toEqual([second.nonce])
    archive.finalize(first.nonce, finalized)
    expect(open()).toEqual([first.nonce, second.nonce])
    archive.markSwept(first.nonce)
    archive.markSwept(first.nonce)
    expect(open()).toEqual([second.nonce])
    const back = archive.takeOut(first.nonce)
    expect(back).toStrictEqual(endedOf(1, { challenge: first, finalized, swept: true }))
    archive.takeOut(second.nonce)
    expect(open()).toEqual([])
    archive.add(endedOf(1, { challenge: second, finalized }))
    if (back) archive.add(back)
    expect(open()).toEqual([second.nonce])
    expect(archive.find(first.nonce)).toStrictEqual(back)
    expect(archive.awaitingCount()).toBe(0)
  })

  it('takes no challenge whose price and fee do not make up its amount', () => {
    const archive = createLedgerArchive()
    for (const chargeTo of ['payer', 'provider'] as const) {
      const fee = { amount: units(2n), bps: 1, chargeTo }
      const challenge = challengeOf(1, { amount: units(1_001n), listPrice: units(1_000n), fee })
      expect(archive.add(endedOf(1, { challenge }))).toBe(false)
    }
    expect(archive.size()).toBe(0)
  })

  it('keeps the epoch of each payment that has one', () => {
    const archive = createLedgerArchive()
    const challenges = [
      challengeOf(1, { epoch: epochOfSecond(60) }),
      challengeOf(2, { epoch: epochOfSecond(120) }),
      challengeOf(3, { epoch: epochOfSecond(120), treasury: addressOf(7) }),
      challengeOf(4),
      challengeOf(5, { epoch: epochOfSecond(60, '22'.repeat(16)) }),
      challengeOf(6, { epoch: epochOfSecond(60) }),
    ]
    for (const challenge of challenges) archive.add(endedOf(1, { challenge }))
    for (const { nonce, epoch } of challenges) expect(archive.find(nonce)?.challenge.epoch).toEqual(epoch)
    expect(archive.find(nonceOf(4))?.challenge).not.toHaveProperty('epoch')
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

  it('passes over finalized ones, and knows which are not, however many there are', () => {
    const archive = createLedgerArchive()
    const count = 9_000
    const finalized = { mint: { txHash: hashOf(1), blockNumber: 0n, value: units(5n) }, at: seconds(9) }
    for (let seed = 0; seed < count; seed++) archive.add(endedOf(seed))
    for (let seed = 0; seed < count; seed++) {
      if (seed % 4_500 !== 7) expect(archive.finalize(nonceOf(seed), finalized)).toBe(true)
    }
    expect([...archive.awaitingMint()].map(({ challenge }) => challenge.nonce)).toEqual([
      nonceOf(7),
      nonceOf(4_507),
    ])
    expect(archive.isAwaitingMint(nonceOf(7))).toBe(true)
    expect(archive.isAwaitingMint(nonceOf(8))).toBe(false)
    expect(archive.find(nonceOf(8))).toEqual(endedOf(8, { finalized }))
  })

  it('tells a mint by an unknown transaction from one in block 0', () => {
    const archive = createLedgerArchive()
    const unknown = { mint: { value: units(5n) }, at: seconds(9) }
    archive.add(endedOf(1, { finalized: unknown }))
    expect(archive.find(nonceOf(1))).toEqual(endedOf(1, { finalized: unknown }))
    archive.add(endedOf(2))
    expect(archive.finalize(nonceOf(2), { ...unknown, mint: { value: units(2n ** 128n) } })).toBe(false)
    expect(archive.isAwaitingMint(nonceOf(2))).toBe(true)
  })

  it('a snapshot that is released before it was read costs nothing more', () => {
    const archive = createLedgerArchive()
    archive.add(endedOf(1))
    const snapshot = archive.snapshot()
    snapshot.release()
    archive.takeOut(nonceOf(1))
    // Had the old one been kept for it, it would still be told.
    expect([...snapshot]).toEqual([])
  })

  it('a snapshot shows what was there when it was taken, whatever happens while it is read', () => {
    const finalized = { mint: { value: units(5n) }, at: seconds(9) }
    const anyChanges = fc.array(
      fc.record({ act: fc.constantFrom('finalize', 'takeOut', 'add', 'read'), on: fc.nat({ max: 9 }) }),
    )
    fc.assert(
      fc.property(anyChanges, anyChanges, (before, during) => {
        const archive = createLedgerArchive()
        const change = ({ act, on }: { act: string; on: number }, at: number) => {
          if (act === 'finalize' && archive.isAwaitingMint(nonceOf(on)))
            archive.finalize(nonceOf(on), finalized)
          if (act === 'takeOut') archive.takeOut(nonceOf(on))
          if (act === 'add') archive.add(endedOf(on, { at: seconds(at) }))
        }
        for (let seed = 0; seed < 8; seed++) archive.add(endedOf(seed))
        for (const [i, step] of before.entries()) change(step, i)
        const expected = [...archive.snapshot()]
        const snapshot = archive.snapshot()[Symbol.iterator]()
        const seen: EndedPayment[] = []
        const read = () => {
          const { done, value } = snapshot.next()
          if (!done) seen.push(value)
          return !done
        }
        for (const [i, step] of during.entries()) {
          if (step.act === 'read') read()
          else change(step, 1000 + i)
        }
        while (read());
        expect(seen).toEqual(expected)
      }),
    )
  })

  it('what is taken out is gone, and can come back changed', () => {
    const archive = createLedgerArchive()
    for (const seed of [1, 2]) archive.add(endedOf(seed))
    expect(archive.takeOut(nonceOf(1))).toEqual(endedOf(1))
    expect(archive.takeOut(nonceOf(1))).toBeUndefined()
    expect(archive.find(nonceOf(1))).toBeUndefined()
    expect(archive.isAwaitingMint(nonceOf(1))).toBe(false)
    expect(archive.size()).toBe(1)
    expect([...archive.snapshot()]).toEqual([endedOf(2)])
    expect([...archive.awaitingMint()]).toEqual([endedOf(2)])
    const changed = endedOf(1, { at: seconds(77) })
    expect(archive.add(changed)).toBe(true)
    expect(archive.find(nonceOf(1))).toEqual(changed)
    expect([...archive.awaitingMint()]).toEqual([changed, endedOf(2)])
    expect(archive.size()).toBe(2)
  })

  it('keeps the first of two with one nonce', () => {
    const archive = createLedgerArchive()
    archive.add(endedOf(1))
    expect(archive.add(endedOf(1, { at: seconds(5) }))).toBe(true)
    expect(archive.size()).toBe(1)
    expect(archive.find(nonceOf(1))?.at).toBe(1_700_000_100)
  })
})
