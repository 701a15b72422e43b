import { describe, expect, it } from 'vitest'
import { allowsUrl, type HostRule, hostOf, oneAddress, parseHostRules } from './hosts.js'

const rule = (...entries: string[]): HostRule => {
  const reading = parseHostRules(entries)
  if ('fault' in reading) throw new Error(reading.fault)
  return reading.value
}

describe('R-094 a host rule', () => {
  it.each([
    ['localhost', 'http://localhost:4021/cheap'],
    ['localhost', 'http://LOCALHOST/'],
    ['localhost', 'http://localhost./'],
    ['LocalHost.', 'https://localhost/'],
    ['127.0.0.1', 'http://127.0.0.1:1/'],
    ['127.0.0.1', 'http://127.1/'],
    ['127.0.0.1', 'http://0x7f000001/'],
    ['::1', 'http://[::1]:80/'],
    ['[::1]', 'http://[0:0:0:0:0:0:0:1]/'],
    ['[::1]:8080', 'http://[::1]:8080/'],
    ['shop.example:443', 'https://shop.example/'],
    ['shop.example:80', 'http://shop.example/'],
    ['münchen.example', 'https://xn--mnchen-3ya.example/'],
    ['xn--mnchen-3ya.example', 'https://MÜNCHEN.example/'],
    ['*', 'https://anything.example/'],
  ])('%s allows %s', (entry, url) => expect(allowsUrl(rule(entry), url)).toBe(true))

  it.each([
    ['localhost', 'http://localhost.evil.example/'],
    ['localhost', 'http://evil.example/localhost'],
    ['localhost', 'http://localhost@evil.example/'],
    ['localhost', 'http://localhost:80@evil.example/'],
    ['localhost', 'http://evil.example\\@localhost/'],
    ['localhost', 'http://evil.example#@localhost/'],
    ['localhost', 'http://evil.example?@localhost/'],
    ['localhost', 'http://user:secret@localhost/'],
    ['localhost', 'http://@evil.example/localhost'],
    ['localhost', 'http://localhost../'],
    ['localhost', 'http://127.0.0.1/'],
    ['localhost', 'http://xlocalhost/'],
    ['localhost', 'http://локалhost/'],
    ['shop.example', 'http://sub.shop.example/'],
    ['shop.example', 'http://shop.example.evil/'],
    ['shop.example', 'http://shopxexample/'],
    ['shop.example', 'http://shоp.example/'],
    ['shop.example:8443', 'https://shop.example/'],
    ['shop.example:443', 'http://shop.example/'],
    ['127.0.0.1', 'http://127.0.0.2/'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/'],
    ['127.0.0.1', 'http://127.0.0.1.evil.example/'],
    ['::1', 'http://[::2]/'],
    ['*', 'http://user@anything.example/'],
    ['*', 'file:///etc/passwd'],
    ['*', 'ftp://anything.example/'],
    ['*', 'data:text/plain,x'],
    ['*', 'javascript:1'],
    ['*', 'not a url'],
  ])('%s does not allow %s', (entry, url) => expect(allowsUrl(rule(entry), url)).toBe(false))

  it('counts every port and spelling of a host as one', () => {
    const names = ['http://localhost:1/', 'http://LOCALHOST.:2/', 'https://localhost/'].map(
      (url) => hostOf(url)?.hostname,
    )
    expect(new Set(names)).toEqual(new Set(['localhost']))
  })
})

describe('a list of hosts', () => {
  it.each([
    [['a', ''], [{ hostname: 'a', port: undefined }]],
    [['a', '*'], 'any'],
    [['*', ''], 'any'],
  ])('%j is read as it is meant', (entries, meant) => expect(rule(...entries)).toEqual(meant))

  it.each([[['']], [['a', '', 'b']], [['', '']]])('%j has an entry that is empty', (entries) =>
    expect(parseHostRules(entries)).toEqual({ fault: 'an entry is empty' }),
  )
})

it.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::ffff:7f00:1', '127.0.0.1'],
  ['::ffff:0:0', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['127.9.9.9', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['::1', '127.0.0.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
])('%s counts as %s', (written, one) => expect(oneAddress(written)).toBe(one))
