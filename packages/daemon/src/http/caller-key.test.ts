import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callerKey } from './caller-key.js'

describe('callerKey', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s counts as %s', (ip, key) => {
    expect(callerKey(ip)).toBe(key)
  })

  it('a caller that hung up has a key all the same', () => {
    expect(callerKey(undefined)).toBe('gone')
  })

  it('two addresses of one /64 share a key, however they are written', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.array(group, { minLength: 4, maxLength: 4 }), group, group, (network, a, b) => {
        const prefix = network.map((part) => part.toString(16)).join(':')
        const spelled = `${prefix}:0:0:0:${a.toString(16)}`
        expect(callerKey(spelled)).toBe(callerKey(`${prefix}::${b.toString(16)}`))
      }),
    )
  })
})
