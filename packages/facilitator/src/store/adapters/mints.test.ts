import type { Address } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  nonceOf,
  permitPayloadOf,
  units,
} from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { TestLedger } from '../../../test/store.js'
import type { Burn } from '../../payment/records.js'

const mint = { txHash: hashOf(900), blockNumber: 12n, value: units(1000n) }

function setup() {
  const clock = stoppedClock()
  return { clock, ledger: createMemoryLedger({ clock, openMax: 10, expiredRetentionSeconds: 3600 }) }
}

async function pay(ledger: TestLedger, seed: number, { granted }: { granted: boolean }) {
  const challenge = challengeOf(seed)
  await ledger.issue(challenge)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(seed) }))
  await ledger.accept(challenge.nonce, burnOf(seed))
  const grant = granted ? await ledger.takeGrant(challenge.nonce, 1_000) : undefined
  if (typeof grant === 'object') await grant.use()
  return challenge.nonce
}

async function awaiting(ledger: TestLedger) {
  const nonces: string[] = []
  for await (const { challenge } of ledger.awaitingMint()) nonces.push(challenge.nonce)
  return nonces.sort()
}

describe('what awaits its mint', () => {
  it('is every accepted and late burn, granted or not, until it is finalized', async () => {
    const { ledger } = setup()
    const granted = await pay(ledger, 1, { granted: true })
    const open = await pay(ledger, 2, { granted: false })
    await ledger.recordLate(challengeOf(3), burnOf(3), 'late')
    await ledger.issue(challengeOf(4))
    expect(await awaiting(ledger)).toEqual([granted, open, nonceOf(3)])
    for (const nonce of [granted, open, nonceOf(3)]) {
      expect(await ledger.finalize(nonce, mint, mint.value)).toBe('finalized')
    }
    expect(await awaiting(ledger)).toEqual([])
  })

  it('comes with what a mint needs, and says which of them bought something', async () => {
    const { ledger } = setup()
    await pay(ledger, 1, { granted: true })
    await ledger.recordLate(challengeOf(2), burnOf(2), 'late')
    const found = []
    for await (const burned of ledger.awaitingMint()) found.push(burned)
    expect(found).toEqual([
      { challenge: challengeOf(1), burn: burnOf(1), acceptedAt: 1_700_000_000 },
      { challenge: challengeOf(2), burn: burnOf(2), lateAt: 1_700_000_000 },
    ])
  })

  it('can change while it is read', async () => {
    const { ledger } = setup()
    for (const seed of [1, 2, 3]) await pay(ledger, seed, { granted: seed !== 2 })
    const seen: string[] = []
    for await (const { challenge } of ledger.awaitingMint()) {
      seen.push(challenge.nonce)
      await ledger.finalize(challenge.nonce, mint, mint.value)
    }
    expect(seen.sort()).toEqual([nonceOf(1), nonceOf(2), nonceOf(3)])
  })
})

describe('very many that await their mint', () => {
  async function setupMany() {
    const clock = stoppedClock()
    const ledger = createMemoryLedger({ clock, openMax: 1_000, expiredRetentionSeconds: 3600 })
    for (let paid = 0; paid < 600; paid += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => pay(ledger, paid + i + 1, { granted: true })))
    }
    return ledger
  }

  it('let others have their turn while they are read', async () => {
    const ledger = await setupMany()
    let turns = 0
    const count = () => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    expect(await awaiting(ledger)).toHaveLength(600)
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(2)
  })

  it('come once each, though one of them becomes changeable again meanwhile', async () => {
    const ledger = await setupMany()
    const seen: string[] = []
    for await (const { challenge } of ledger.awaitingMint()) {
      seen.push(challenge.nonce)
      const transfer = { txHash: hashOf(901), reason: 'burn_underpaid' } as const
      if (seen.length === 10) await ledger.recordUnmatched(nonceOf(1), transfer)
    }
    expect(seen).toHaveLength(600)
    expect(new Set(seen).size).toBe(600)
  })
})

describe('finalize', () => {
  it.each([true, false])('keeps the first mint of a payment, its grant used: %s', async (granted) => {
    const { ledger, clock } = setup()
    const nonce = await pay(ledger, 1, { granted })
    clock.advance(60_000)
    expect(await ledger.finalize(nonce, mint, mint.value)).toBe('finalized')
    expect(await ledger.finalize(nonce, { value: units(1n) }, mint.value)).toBe('already_finalized')
    expect((await ledger.books.find(nonce))?.finalized).toEqual({ mint, at: 1_700_000_060 })
  })

  it('of two at once is one', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: true })
    const ends = await Promise.all([
      ledger.finalize(nonce, mint, mint.value),
      ledger.finalize(nonce, mint, mint.value),
    ])
    expect(ends.sort()).toEqual(['already_finalized', 'finalized'])
  })

  it('leaves the grant as it is: a payer who was not answered yet still is', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: false })
    await ledger.finalize(nonce, mint, mint.value)
    const grant = await ledger.takeGrant(nonce, 1_000)
    if (typeof grant === 'string') throw new Error('nobody used it')
    await grant.use()
    expect(await ledger.books.find(nonce)).toMatchObject({ finalized: { mint } })
    expect(await ledger.takeGrant(nonce, 1_000)).toBe('used')
  })

  it('is refused for a payment without a burn', async () => {
    const { ledger } = setup()
    await ledger.issue(challengeOf(1))
    await expect(ledger.finalize(nonceOf(1), mint, mint.value)).rejects.toMatchObject({ code: 'invariant' })
    await expect(ledger.finalize(nonceOf(2), mint, mint.value)).rejects.toMatchObject({ code: 'invariant' })
  })
})

describe('a larger burn that is found while a smaller one is minted', () => {
  const [small, large] = [3n, 7n].map((value, i) => ({ ...burnOf(i + 1), value: units(value) })) as [
    Burn,
    Burn,
  ]

  it('is not minted with it', async () => {
    const { ledger } = setup()
    await ledger.recordLate(challengeOf(1), small, 'late')
    await ledger.recordLate(challengeOf(1), large, 'unrecorded')
    expect(await ledger.finalize(nonceOf(1), { value: small.value }, small.value)).toBe('outgrown')
    expect(await awaiting(ledger)).toEqual([nonceOf(1)])
    expect(await ledger.finalize(nonceOf(1), { value: units(4n) }, large.value)).toBe('finalized')
    expect(await awaiting(ledger)).toEqual([])
  })

  it('is not minted with it either when both are written at once', async () => {
    const { ledger } = setup()
    await ledger.recordLate(challengeOf(1), small, 'late')
    await Promise.all([
      ledger.recordLate(challengeOf(1), large, 'unrecorded'),
      ledger.finalize(nonceOf(1), { value: small.value }, small.value),
    ])
    expect(await awaiting(ledger)).toEqual([nonceOf(1)])
  })
})

describe('fault 9 demote', () => {
  it.each([true, false])('waits for a burn again and keeps the grant, used: %s', async (granted) => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted })
    expect(await ledger.demote(nonce)).toBe('demoted')
    const payment = await ledger.find(nonce)
    expect(payment).toMatchObject({ claim: { txHash: burnOf(1).txHash }, demoted: { burn: burnOf(1) } })
    expect(payment?.accepted).toBeUndefined()
    expect((await ledger.find(nonce))?.granted).toBe(granted)
    expect(await awaiting(ledger)).toEqual([])
    await expect(ledger.finalize(nonce, mint, mint.value)).rejects.toMatchObject({ code: 'invariant' })

    expect(await ledger.accept(nonce, burnOf(7))).toBe('accepted')
    expect((await ledger.find(nonce))?.accepted?.burn).toEqual(burnOf(7))
    expect((await ledger.find(nonce))?.granted).toBe(granted)
    expect(await awaiting(ledger)).toEqual([nonce])
  })

  it('lets only the payload that was burned come back', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: true })
    await ledger.demote(nonce)
    const same = permitPayloadOf(challengeOf(1), { nonce: 1n })
    expect(await ledger.claim(nonce, same)).toBe('same_payload')
    const other = permitPayloadOf(challengeOf(1), { payer: addressOf(0xfb) })
    expect(await ledger.claim(nonce, other)).toBe('other_payload')
  })

  it('lists what was demoted with the burn it lost, until it is accepted again', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: true })
    const lost = async () => {
      const burns = []
      for await (const { challenge, burn } of ledger.demoted()) burns.push([challenge.nonce, burn.txHash])
      return burns
    }
    await ledger.demote(nonce)
    expect(await lost()).toEqual([[nonce, burnOf(1).txHash]])
    await ledger.accept(nonce, burnOf(2))
    expect(await lost()).toEqual([])
  })

  it('does nothing to a payment that is not accepted, or is finalized', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: true })
    await ledger.finalize(nonce, mint, mint.value)
    expect(await ledger.demote(nonce)).toBe('already_finalized')
    await ledger.issue(challengeOf(2))
    expect(await ledger.demote(nonceOf(2))).toBe('not_accepted')
    expect((await ledger.books.find(nonce))?.finalized).toEqual({ mint, at: 1_700_000_000 })
  })

  it('a burn that a reorg put elsewhere is remembered there, accepted or late', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: true })
    await ledger.recordLate(challengeOf(2), burnOf(2), 'late')
    await ledger.moveBurn(nonce, { ...burnOf(1), leafIndex: 40n })
    await ledger.moveBurn(nonceOf(2), { ...burnOf(2), leafIndex: 41n })
    expect((await ledger.find(nonce))?.accepted?.burn.leafIndex).toBe(40n)
    expect((await ledger.books.find(nonceOf(2)))?.late?.burn.leafIndex).toBe(41n)
  })
})

describe('signed mints', () => {
  const signed = (txNonce: number, version = 0) =>
    ({ txNonce, hash: hashOf(500 + txNonce * 10 + version), raw: '0x02', from: addressOf(0xb0) }) as const

  it('are given back as they were signed, versions of one transaction together, until finalized', async () => {
    const { ledger } = setup()
    const nonces = [await pay(ledger, 1, { granted: true }), await pay(ledger, 2, { granted: false })]
    const [first, second] = nonces
    if (!first || !second) throw new Error('two were paid')
    await ledger.recordMintSigned(signed(8), [second])
    await ledger.recordMintSigned(signed(7), [first])
    const raised = { ...signed(7, 1), isReplacement: true } as const
    await ledger.recordMintSigned(raised, [first])
    expect((await ledger.interrupted()).mints).toEqual([
      { transactions: [signed(7), raised], nonces: [first] },
      { transactions: [signed(8)], nonces: [second] },
    ])
    await ledger.finalize(first, mint, mint.value)
    expect((await ledger.interrupted()).mints).toEqual([{ transactions: [signed(8)], nonces: [second] }])
    await ledger.finalize(second, mint, mint.value)
    expect((await ledger.interrupted()).mints).toEqual([])
  })

  it('of two accounts are two transactions, though they have one txNonce', async () => {
    const { ledger } = setup()
    const first = await pay(ledger, 1, { granted: true })
    const second = await pay(ledger, 2, { granted: true })
    const ofMinter = { ...signed(7, 1), from: '0x00000000000000000000000000000000000000bb' as Address }
    await ledger.recordMintSigned(signed(7), [first])
    await ledger.recordMintSigned(ofMinter, [second])
    expect((await ledger.interrupted()).mints).toEqual([
      { transactions: [signed(7)], nonces: [first] },
      { transactions: [ofMinter], nonces: [second] },
    ])
  })

  it('give way to a burn of the same account and txNonce: their record was not answered, and they were not sent', async () => {
    const { ledger } = setup()
    const from = '0x00000000000000000000000000000000000000bb' as Address
    const minted = await pay(ledger, 1, { granted: true })
    const challenge = challengeOf(2)
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: 2n }))
    await ledger.recordMintSigned({ ...signed(7), from }, [minted])
    await ledger.recordSigned({ ...signed(7, 1), from }, [challenge.nonce])
    const { mints, transactions } = await ledger.interrupted()
    expect(mints).toEqual([])
    expect(transactions).toMatchObject([{ transactions: [{ hash: hashOf(571) }] }])
  })

  it('stay known while their payment is demoted: their nonce is used up all the same', async () => {
    const { ledger } = setup()
    const nonce = await pay(ledger, 1, { granted: true })
    await ledger.recordMintSigned(signed(3), [nonce])
    await ledger.demote(nonce)
    expect((await ledger.interrupted()).mints).toEqual([{ transactions: [signed(3)], nonces: [nonce] }])
  })
})
