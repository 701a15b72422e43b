import { expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { parseConfig } from './config.js'
import { dustBelow } from './found-transfers.js'

const below = (settlement = '') =>
  dustBelow(parseConfig(minimalConfig().replace('[settlement]', `[settlement]\n${settlement}`)))

it('what is not worth a mint is the larger of what the operator set, and nothing where nothing is set', () => {
  expect(below("min_amount = '5'")).toBe(5n)
  expect(below("relay_min_amount = '7'")).toBe(7n)
  expect(below("min_amount = '5'\nrelay_min_amount = '7'")).toBe(7n)
  expect(below()).toBe(0n)
})
