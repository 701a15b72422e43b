import { describe, expect, it } from 'vitest'
import { addressOf, deployment, seconds, units } from '../../../test/challenges.js'
import {
  dayTold,
  historyPaymentOf,
  nextMidnight,
  noon,
  payerA,
  toldFrom,
} from '../../../test/history-payments.js'
import { type Sight, seenBy, sightOf, totalsSeenBy } from '../scopes.js'
import { finalityStatement, paymentStatement, totalStatement } from './contents.js'

const { treasury } = deployment
const money = { chainId: 31_337, token: deployment.token }
const open = { network: 'eip155:31337', token: deployment.token }
const payer = sightOf('payer', { payer: { address: payerA }, provider: {} }, treasury)
const stranger = sightOf('payer', { payer: {}, provider: {} }, treasury)
const provider = sightOf('provider', { payer: {}, provider: {} }, treasury)

const fee = { amount: units(10n), bps: 100, chargeTo: 'provider', recipient: addressOf(0xfee) } as const
const minted = historyPaymentOf(1, { finalizedAt: noon + 61, challenge: { fee } })
const statementOf = (sight: Sight, payment = minted, now = toldFrom) => {
  const seen = seenBy(sight, payment, seconds(now))
  if (!seen) throw new Error('not seen')
  return paymentStatement(sight, seen, money)
}
const receiptOf = (sight: Sight, payment = minted, now = toldFrom) => {
  const seen = seenBy(sight, payment, seconds(now))
  if (!seen) throw new Error('not seen')
  return finalityStatement(seen, money, seconds(now))
}

/** Everything that names the mint or the treasury, or tells the minute. */
const secretsOfTheMint = [
  minted.finalized?.mint.txHash,
  treasury,
  fee.recipient,
  `${noon + 61}`,
  new Date((noon + 61) * 1_000).toISOString().slice(11, 16),
].map(String)

describe('a statement about one payment', () => {
  it('tells a payer of its burn and of the day, and nothing of the mint, the treasury or the minute', () => {
    const statement = statementOf(payer)
    expect(statement).toMatchObject({
      open: { ...open, role: 'payer', outcome: 'accepted' },
      hidden: {
        payer: payerA,
        burnTransaction: minted.accepted?.burn.txHash,
        leafIndex: '1',
        finalizedOn: dayTold,
      },
    })
    const names = Object.keys(statement?.hidden ?? {})
    for (const name of ['treasury', 'mintTransaction', 'minted', 'finalizedAt', 'fee'])
      expect(names).not.toContain(name)
    for (const secret of secretsOfTheMint) expect(JSON.stringify(statement)).not.toContain(secret)
  })

  it('tells a payer of finality when the day behind the burn is over', () => {
    expect(statementOf(payer, minted, toldFrom - 1)?.hidden).not.toHaveProperty('finalizedOn')
    expect(statementOf(payer, minted, toldFrom)?.hidden).toMatchObject({ finalizedOn: dayTold })
  })

  it('tells a payer that came with a nonce alone neither its address nor its burn, and does not say that it paid', () => {
    const { open: told, hidden } = statementOf(stranger) ?? {}
    expect(told).toMatchObject({ ...open, role: 'bearer' })
    for (const name of ['payer', 'burnTransaction', 'leafIndex']) expect(hidden).not.toHaveProperty(name)
  })

  it('tells the provider of mint and fee, and of the payer only when the payer disclosed itself', () => {
    const statement = statementOf(provider, minted, noon + 62)
    expect(statement?.hidden).toMatchObject({
      treasury,
      mintTransaction: minted.finalized?.mint.txHash,
      minted: '1000',
      finalizedAt: noon + 61,
      fee: '10',
    })
    for (const secret of [payerA, minted.accepted?.burn.txHash, minted.challenge.payTo].map(String)) {
      expect(JSON.stringify(statement)).not.toContain(secret)
    }
    const disclosed = { ...minted, disclosedAt: seconds(noon + 70) }
    expect(statementOf(provider, disclosed)?.hidden).toMatchObject({ payer: payerA })
  })

  it('calls money that came too late late, whatever its holder hides', () => {
    const late = historyPaymentOf(2, { accepted: false, late: {} })
    expect(statementOf(payer, late)).toMatchObject({
      open: { outcome: 'late' },
      hidden: { lateReason: 'late', value: '1000' },
    })
  })

  it('says nothing before something was burned', () => {
    expect(statementOf(provider, historyPaymentOf(3, { accepted: false }))).toBeUndefined()
  })
})

describe('a finality receipt', () => {
  it('names the burn and the day, to a payer as well, and neither the mint nor whom it went to', () => {
    const receipt = receiptOf(payer)
    expect(receipt).toEqual({
      kind: 'finality',
      open,
      hidden: {
        burnTransaction: minted.accepted?.burn.txHash,
        leafIndex: '1',
        value: '1000',
        finalizedOn: dayTold,
      },
    })
    for (const secret of secretsOfTheMint) expect(JSON.stringify(receipt)).not.toContain(secret)
  })

  it('is the same for the provider that may see the burn', () => {
    expect(receiptOf(provider, { ...minted, disclosedAt: seconds(noon) })).toEqual(receiptOf(payer))
  })

  it('is given to nobody before a day has passed, not even to the provider', () => {
    for (const sight of [payer, stranger, provider]) {
      expect(receiptOf(sight, minted, toldFrom - 1)).toBe('finality_not_told')
    }
  })

  it('is refused without a mint, without a burn, and to those who may not see the burn', () => {
    expect(receiptOf(payer, historyPaymentOf(1))).toBe('finality_not_told')
    expect(receiptOf(provider, historyPaymentOf(1, { accepted: false }))).toBe('nothing_to_state')
    expect(receiptOf(provider)).toBe('burn_not_disclosed')
    expect(receiptOf(stranger)).toBe('burn_not_disclosed')
  })
})

describe('a statement about a total', () => {
  const sum = (payments: number, amount: bigint) => ({ payments, amount })
  const totals = { accepted: sum(3, 3_000n), late: sum(1, 5n), fees: sum(2, 30n), finalized: sum(2, 2_000n) }
  const period = { since: noon, until: nextMidnight }

  it('tells a payer no mints and no fees', () => {
    expect(totalStatement(payer, totalsSeenBy(payer, totals), period, money)).toEqual({
      kind: 'total',
      open: { ...open, role: 'payer', ...period },
      hidden: { accepted: '3000', acceptedPayments: 3, late: '5', latePayments: 1, payer: payerA },
    })
  })

  it('tells the provider all of its own, and no payer', () => {
    expect(totalStatement(provider, totalsSeenBy(provider, totals), period, money).hidden).toEqual({
      accepted: '3000',
      acceptedPayments: 3,
      late: '5',
      latePayments: 1,
      fees: '30',
      finalized: '2000',
      finalizedPayments: 2,
      treasury,
    })
  })
})
