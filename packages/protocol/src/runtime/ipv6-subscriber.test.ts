import { isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ipv6SubscriberOf } from './ipv6-subscriber.js'

describe('the subscriber behind an IPv6 address', () => {
  it.each([
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('of %s is %s', (text, subscriber) => {
    expect(ipv6SubscriberOf(text)).toBe(subscriber)
  })

  it.each(['203.0.113.7', '', 'alice', '[::1]', '::1]:80/[', '::1/64', '%eth0'])(
    'of %j is nobody',
    (text) => {
      expect(ipv6SubscriberOf(text)).toBeUndefined()
    },
  )

  it('is somebody for every text that Node takes for an IPv6 address, and for no other', () => {
    const part = fc.oneof(
      fc.constantFrom(':', '::', '.', '0', '1.2.3.4', 'ffff', 'fffff', '%1', ' ', ']'),
      fc.integer({ min: 0, max: 0xffff }).map((group) => `${group.toString(16)}:`),
    )
    const text = fc.oneof(
      fc.ipV6(),
      fc.array(part, { maxLength: 10 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (each) => {
        expect(ipv6SubscriberOf(each) !== undefined).toBe(isIPv6(each.split('%', 1)[0] ?? ''))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is the same for two addresses of one /64, however they are written', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.array(group, { minLength: 4, maxLength: 4 }), group, group, (network, a, b) => {
        const prefix = network.map((part) => part.toString(16)).join(':')
        const spelled = `${prefix}:0:0:0:${a.toString(16)}`
        expect(ipv6SubscriberOf(spelled)).toBe(ipv6SubscriberOf(`${prefix}::${b.toString(16)}`))
      }),
    )
  })
})
