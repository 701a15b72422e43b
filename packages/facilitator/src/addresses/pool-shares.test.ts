import { expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { parseConfig } from '../config/config.js'
import { rankOf } from '../payment/issue/shares.js'
import { poolSharesOf } from './addresses.js'

/** How many of so few ready addresses one caller gets. */
function gets(poolSize: number, ready: number): number {
  const shares = poolSharesOf(parseConfig(`${minimalConfig()}\n[zerc20]\npool_size = ${poolSize}\n`))
  let taken = 0
  while (rankOf(shares, { of: () => taken, all: taken }, 'somebody', ready - taken) !== undefined) taken += 1
  return taken
}

it('a pool that is still small refuses nobody before it is empty', () => {
  expect(gets(256, 4)).toBe(4)
  expect(gets(256, 20)).toBe(20)
})

it('one caller leaves a part of a full pool to the others', () => {
  expect(gets(256, 256)).toBe(192)
  expect(gets(8, 8)).toBe(6)
})
