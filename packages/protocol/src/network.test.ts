import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainId } from '../test/arbitrary.js'
import * as Network from './network.js'
import { scheme } from './offer.js'

describe('network', () => {
  it('R-001 names the scheme svc-zerc20', () => {
    expect(scheme).toBe('svc-zerc20')
  })

  it('R-001 writes and reads eip155:<chainId>', () => {
    fc.assert(fc.property(chainId, (id) => Network.parseChainId(Network.format(id)) === id))
    expect(Network.format(31337)).toBe('eip155:31337')
  })

  it.each([
    'eip155:0',
    'eip155:01',
    'eip155:-1',
    'eip155:1e3',
    'eip155:0x1',
    'eip155:1.0',
    'eip155:',
    'eip155',
    'eip155:*',
    'EIP155:1',
    ' eip155:1',
    'eip155:1 ',
    'eip155:1\n',
    'eip155:9007199254740992',
    'eip155:99999999999999999999',
    'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    'base',
    '',
  ])('R-001 refuses %j', (text) => {
    expect(Network.parseChainId(text)).toBeUndefined()
  })

  it('R-001 refuses what is not a string', () => {
    for (const value of [31337, null, undefined, ['eip155:1'], {}]) {
      expect(Network.parseChainId(value)).toBeUndefined()
    }
  })
})
