import { describe, expect, it } from 'vitest'
import { addressOf, nonceOf, units } from '../../../test/challenges.js'
import { dayTold, historyPaymentOf, noon, payerA, toldFrom } from '../../../test/history-payments.js'
import { type Sight, seenBy, sightOf } from '../../history/scopes.js'
import { csvOf } from './view.js'

const head = { network: 'eip155:31337', token: '0xT' }
const participants = { payer: { address: payerA }, provider: {} }
const now = (toldFrom + 5) as Parameters<typeof seenBy>[2]

const common = [
  ...['network', 'token', 'challenge_nonce', 'phase', 'amount', 'list_price', 'fee', 'fee_charged_to'],
  ...['issued_at', 'expires_at', 'accepted_at', 'accepted_value', 'finalized_on'],
  ...['late_at', 'late_value', 'late_reason', 'late_finalized_on', 'payer', 'pay_to'],
  ...['burn_transaction', 'burn_block', 'burn_leaf'],
  ...['late_burn_transaction', 'late_burn_block', 'late_burn_leaf', 'disclosed_at'],
]
const providersOnly = [
  ...['treasury', 'finalized_at', 'mint_transaction', 'mint_block', 'mint_value'],
  ...['late_finalized_at', 'late_mint_transaction', 'late_mint_block', 'late_mint_value'],
]

describe('the columns', () => {
  it('of a payer have no mint and no treasury, those of the provider have', () => {
    expect(csvOf('payer', head).header).toBe(`${common.join(',')}\r\n`)
    expect(csvOf('provider', head).header).toBe(`${[...common, ...providersOnly].join(',')}\r\n`)
  })

  it('are filled from what the participant sees, with all digits of large amounts', () => {
    const value = 2n ** 248n - 1n
    const payment = historyPaymentOf(1, {
      value,
      finalizedAt: noon + 611,
      challenge: { fee: { amount: units(7n), bps: 1, chargeTo: 'payer', recipient: addressOf(5) } },
    })
    const cellsOf = (sight: Sight) => {
      const csv = csvOf(sight.role, head)
      const seen = seenBy(sight, payment, now)
      const names = csv.header.trimEnd().split(',')
      const cells = (seen ? csv.row(seen) : '').trimEnd().split(',')
      expect(cells).toHaveLength(names.length)
      return Object.fromEntries(names.map((name, i) => [name, cells[i]]))
    }
    expect(cellsOf(sightOf('payer', participants, payment.challenge.treasury))).toMatchObject({
      network: 'eip155:31337',
      challenge_nonce: nonceOf(1),
      phase: 'finalized',
      amount: `${value}`,
      fee: '7',
      accepted_at: '2023-11-14T12:00:00Z',
      accepted_value: `${value}`,
      finalized_on: dayTold,
      burn_transaction: payment.accepted?.burn.txHash,
      late_at: '',
    })
    expect(cellsOf(sightOf('provider', participants, payment.challenge.treasury))).toMatchObject({
      payer: '',
      burn_transaction: '',
      finalized_at: '2023-11-14T12:10:11Z',
      mint_value: `${value}`,
    })
  })
})
