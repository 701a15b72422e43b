import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { parseConfig } from './config.js'
import { dustBelow, isLoopback } from './settings.js'

const below = (settlement = '') =>
  dustBelow(parseConfig(minimalConfig().replace('[settlement]', `[settlement]\n${settlement}`)))

it('what is not worth a mint is the larger of what the operator set, and nothing where nothing is set', () => {
  expect(below("min_amount = '5'")).toBe(5n)
  expect(below("relay_min_amount = '7'")).toBe(7n)
  expect(below("min_amount = '5'\nrelay_min_amount = '7'")).toBe(7n)
  expect(below()).toBe(0n)
})

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['127.255.255.254', true],
    ['localhost', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.256', false],
    ['127.0.0.1.example.org', false],
    ['localhost.example.org', false],
    ['10.0.0.1', false],
    ['', false],
  ])('R-057 %s is %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected)
  })
})
