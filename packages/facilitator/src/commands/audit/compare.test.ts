import { describe, expect, it } from 'vitest'
import { type AuditBooks, type AuditChain, type BookedPayment, compare, printAudit } from './compare.js'

const payTo = (seed: number) => `0x${String(seed).padStart(40, '0')}`
const burnOf = (seed: number, value = 1000) => ({
  transaction: `0xb${seed}`,
  block: '1',
  leafIndex: `${seed}`,
  from: payTo(99),
  value: `${value}`,
})

/** A payment that is finalized, unless told otherwise. */
const paymentOf = (seed: number, changes: Partial<BookedPayment> = {}): BookedPayment => ({
  challengeNonce: `0x${seed}`,
  phase: 'finalized',
  amount: '1000',
  listPrice: '1000',
  payTo: payTo(seed),
  issuedAt: seed,
  expiresAt: seed + 300,
  claimed: true,
  granted: true,
  burn: burnOf(seed),
  acceptedAt: seed,
  mint: { transaction: `0xm${seed}`, value: '1000' },
  ...changes,
})

const mintOf = (seed: number, value = 1000n) => ({
  transaction: `0xm${seed}`,
  value,
  isIn: true,
  isYoung: false,
})

const forever = { since: 0, until: Number.POSITIVE_INFINITY }
const noFees = {
  treasury: payTo(0),
  due: { payments: 0, amount: '0' },
  swept: { sweeps: 0, payments: 0, amount: '0' },
}

function setup(
  payments: readonly BookedPayment[],
  books: Partial<AuditBooks> = {},
  chain: Partial<AuditChain> = {},
): [AuditBooks, AuditChain] {
  return [
    { payments, odd: { unmatched: [], stuck: [] }, fees: noFees, relayer: payTo(7), ...books },
    {
      balances: new Map(payments.map((payment) => [payment.payTo, BigInt(payment.burn?.value ?? 0)])),
      mints: payments.filter(({ mint }) => mint).map(({ issuedAt }) => mintOf(issuedAt)),
      relayed: [],
      swept: 0n,
      ...chain,
    },
  ]
}

const differencesOf = (...given: Parameters<typeof setup>) => compare(...setup(...given), forever).differences

describe('chain against books', () => {
  it('agree about payments that are finalized, owed, expired and under way', () => {
    const owed = paymentOf(2, {
      phase: 'accepted',
      mint: undefined,
      waiting: { reason: 'queued', meaning: '' },
    })
    const nothing = { burn: undefined, mint: undefined, acceptedAt: undefined }
    const expired = paymentOf(3, { phase: 'expired', ...nothing })
    const underWay = paymentOf(4, { phase: 'open', ...nothing })
    const [books, chain] = setup([paymentOf(1), owed, expired, underWay])
    const report = compare(
      books,
      { ...chain, balances: new Map(chain.balances).set(payTo(4), 1000n) },
      forever,
    )
    expect(report).toMatchObject({
      payments: 4,
      burned: { books: '2000', chain: '3000' },
      minted: { books: '1000', chain: '1000' },
      owed: '1000',
      differences: [],
    })
    expect(printAudit(report)).toContain('chain and books agree')
  })

  it('differ when an address holds more or less than the books know', () => {
    const more = differencesOf([paymentOf(1)], {}, { balances: new Map([[payTo(1), 3500n]]) })
    expect(more).toMatchObject([
      { about: 'burned', challengeNonce: '0x1', message: expect.stringMatching(/know 1000, 3500 lie/) },
    ])
    expect(differencesOf([paymentOf(1)], {}, { balances: new Map() })).toHaveLength(1)
    // Paid, forgotten by the books, and owed to nobody.
    const lost = paymentOf(1, { phase: 'expired', burn: undefined, mint: undefined })
    expect(differencesOf([lost], {}, { balances: new Map([[payTo(1), 700n]]) })).toHaveLength(1)
  })

  it('agree about money that is stuck and known, and about transfers that cover nothing', () => {
    const transfers = [1, 2].map((seed) => ({ ...burnOf(seed), at: 5 }))
    const stuck = [{ challengeNonce: '0x1', payTo: payTo(1), stuck: '1000', transfers }]
    const odd = { unmatched: [{ at: 5, challengeNonce: '0x2', txHash: '0xff', reason: 'underpaid' }], stuck }
    const none = paymentOf(2, { phase: 'expired', burn: undefined, mint: undefined })
    const balances = new Map([
      [payTo(1), 2000n],
      [payTo(2), 12n],
    ])
    expect(differencesOf([paymentOf(1), none], { odd }, { balances })).toEqual([])
  })

  it('differ about a burn of our relayer that is in no books, unless it is new', () => {
    const relayed = { challengeNonce: '0x7', transaction: '0xb7', value: 5n, isIn: true, isYoung: false }
    expect(differencesOf([], {}, { relayed: [relayed] })).toMatchObject([
      { about: 'burned', challengeNonce: '0x7', transaction: '0xb7' },
    ])
    expect(differencesOf([], {}, { relayed: [{ ...relayed, isYoung: true }] })).toEqual([])
  })

  it('differ about mints: one that brought another sum, one that never was, one that nobody booked', () => {
    const shared = { transaction: '0xm1', value: '1000' }
    const two = [paymentOf(1, { mint: shared }), paymentOf(2, { mint: shared })]
    expect(differencesOf(two, {}, { mints: [mintOf(1, 2000n)] })).toEqual([])
    expect(differencesOf(two, {}, { mints: [mintOf(1, 1500n)] })).toMatchObject([
      { about: 'minted', transaction: '0xm1', message: 'the books have 2000 of it, it minted 1500' },
    ])
    expect(differencesOf([paymentOf(1)], {}, { mints: [] })).toMatchObject([
      { message: expect.stringMatching(/it minted 0/) },
    ])
    expect(differencesOf([paymentOf(1)], {}, { mints: [mintOf(1), mintOf(9)] })).toMatchObject([
      { about: 'minted', transaction: '0xm9' },
    ])
  })

  it('differ about sweeps, and count what is under way', () => {
    const fees = { ...noFees, swept: { sweeps: 1, payments: 2, amount: '40' } }
    const underWay = { recipient: payTo(5), amount: '10', payments: 1 }
    expect(differencesOf([], { fees: { ...fees, underWay } }, { swept: 50n })).toEqual([])
    expect(differencesOf([], { fees }, { swept: 50n })).toMatchObject([{ about: 'swept' }])
  })

  it('are compared for the payments of a period', () => {
    const [books, chain] = setup([paymentOf(1), paymentOf(5)], {}, { balances: new Map([[payTo(5), 1000n]]) })
    expect(compare(books, chain, { since: 5, until: 6 })).toMatchObject({ payments: 1, differences: [] })
    expect(compare(books, chain, forever).differences).toHaveLength(1)
  })
})
