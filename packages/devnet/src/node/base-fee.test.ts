import { expect, test } from 'vitest'
import { nextBaseFee } from './base-fee.js'

const gasLimit = 60_000_000n

test('the base fee stays when a block is half full', () => {
  expect(nextBaseFee({ baseFee: 1_000n, gasUsed: gasLimit / 2n, gasLimit })).toBe(1_000n)
})

test('the base fee falls by an eighth after an empty block and rises by an eighth after a full one', () => {
  expect(nextBaseFee({ baseFee: 800n, gasUsed: 0n, gasLimit })).toBe(700n)
  expect(nextBaseFee({ baseFee: 800n, gasUsed: gasLimit, gasLimit })).toBe(900n)
})

test('the base fee always rises by at least one wei above the target', () => {
  expect(nextBaseFee({ baseFee: 1n, gasUsed: gasLimit / 2n + 1n, gasLimit })).toBe(2n)
})
