import { describe, expect, it } from 'vitest'
import { isLoopback } from './loopback.js'

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
