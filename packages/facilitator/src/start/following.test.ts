import { expect, it } from 'vitest'
import { challengeOf, seconds, units } from '../../test/challenges.js'
import { minimalConfig } from '../../test/config.js'
import { parseConfig } from '../config/config.js'
import { type FoundTransfer, judgeTransfers } from '../payment/judge-transfers.js'
import { dustBelow } from './following.js'

const challenge = challengeOf(1)
const below = (settlement = '') =>
  dustBelow(parseConfig(minimalConfig().replace('[settlement]', `[settlement]\n${settlement}`)))(challenge)

it('what is not worth a mint is the larger of what the operator set, and the price where nothing is set', () => {
  expect(below("min_amount = '5'")).toBe(5n)
  expect(below("relay_min_amount = '7'")).toBe(7n)
  expect(below("min_amount = '5'\nrelay_min_amount = '7'")).toBe(7n)
  expect(below()).toBe(challenge.amount)
})

it('dust at an expired address costs no mint where nothing is set, and its price is minted', () => {
  const judge = (value: bigint) => {
    const transfer = { value: units(value), minedAt: seconds(1), leafIndex: 1n } as FoundTransfer
    const now = challenge.expiresAt + 1
    return judgeTransfers({ challenge, payment: undefined, transfers: [transfer], now, dustBelow: below() })
      .kind
  }
  expect([1n, 999n, 1000n].map(judge)).toEqual(['nothing', 'nothing', 'mint'])
})
