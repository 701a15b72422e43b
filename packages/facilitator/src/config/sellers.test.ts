import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { parseConfig, readConfig } from './config.js'
import { describe as describeFinding } from './finding.js'
import { printConfig } from './print.js'
import { reservedPercentOf } from './settings.js'

const hash = (digit: string) => digit.repeat(64)
const seller = (name: string, digit: string, more = '') =>
  `[[sellers]]\nname = "${name}"\ntoken_sha256 = "${hash(digit)}"\n${more}\n`
const withSellers = (...tables: string[]) => `${minimalConfig()}\n${tables.join('\n')}`
const findingsOf = (text: string) => readConfig(text).findings.map(describeFinding)

describe('[[sellers]]', () => {
  it('may be left out', () => {
    expect(parseConfig(minimalConfig()).sellers).toEqual([])
  })

  it('is read as often as it is there, with the defaults of each', () => {
    const text = withSellers(
      seller('shop', 'A'),
      seller(
        'bakery.2',
        'b',
        'rate_limit_per_min = 600\nchallenge_per_key_per_min = -1\nreserved_percent = 40',
      ),
    )
    expect(parseConfig(text).sellers).toEqual([
      {
        name: 'shop',
        token_sha256: hash('a'),
        rate_limit_per_min: undefined,
        challenge_per_key_per_min: undefined,
        reserved_percent: undefined,
      },
      {
        name: 'bakery.2',
        token_sha256: hash('b'),
        rate_limit_per_min: 600,
        challenge_per_key_per_min: -1,
        reserved_percent: 40,
      },
    ])
  })

  it.each([
    [
      ['', ''],
      [10, 10],
    ],
    [
      ['', '', '', '', ''],
      [4, 4, 4, 4, 4],
    ],
    [
      ['reserved_percent = 95', ''],
      [95, 5],
    ],
    [
      ['reserved_percent = 0', ''],
      [0, 10],
    ],
    [
      ['reserved_percent = 100', ''],
      [100, 0],
    ],
  ])('reserves a little for whoever says nothing about it: %j', (given, percents) => {
    const tables = given.map((more, at) => seller(`shop-${at}`, `${at}`, more))
    expect([...reservedPercentOf(parseConfig(withSellers(...tables))).values()]).toEqual(percents)
  })

  it('is printed so that it can be read again', () => {
    const config = parseConfig(withSellers(seller('shop', 'a', 'reserved_percent = 7'), seller('other', 'b')))
    expect(parseConfig(printConfig(config, {})).sellers).toEqual(config.sellers)
  })

  it('names each mistake with its place and its line', () => {
    const text = withSellers(
      seller('shop', 'a'),
      '[[sellers]]\nname = "A Shop"\ntoken_sha256 = "abc"\nreserved_percent = 101\n',
      '[[sellers]]\nname = "third"\n',
    )
    expect(findingsOf(text)).toEqual([
      expect.stringMatching(/^sellers\[1\]\.name: /),
      expect.stringMatching(/^sellers\[1\]\.token_sha256: must be a SHA-256 hash, 64 hex digits/),
      expect.stringMatching(/^sellers\[1\]\.reserved_percent: /),
      expect.stringMatching(/^sellers\[2\]\.token_sha256: required/),
    ])
  })

  it('refuses one table where several may be, and a list of anything else', () => {
    expect(findingsOf(`${minimalConfig()}\n[sellers]\nname = "shop"\n`)).toEqual([
      expect.stringMatching(/^sellers: must be written as \[\[sellers\]\], once for each/),
    ])
    expect(findingsOf(`sellers = [1]\n${minimalConfig()}`)).toEqual([
      expect.stringMatching(/^sellers\[0\]: must be a table, is 1/),
    ])
  })

  it('refuses two sellers of one name, two of one token, and more than there is to reserve', () => {
    const text = withSellers(
      seller('shop', 'a', 'reserved_percent = 60'),
      seller('shop', 'b', 'reserved_percent = 41'),
      seller('third', 'a'),
    )
    expect(findingsOf(text)).toEqual([
      expect.stringMatching(/^sellers\[1\]\.name: is that of sellers\[0\], too/),
      expect.stringMatching(/^sellers\[2\]\.token_sha256: is that of sellers\[0\], too/),
      expect.stringMatching(/^sellers\[1\]\.reserved_percent: .* at most 100, have 101/),
    ])
  })

  it('refuses a token in the file, and warns about a key that nobody reads', () => {
    expect(findingsOf(withSellers(seller('shop', 'a', 'token = "hush"\nreserved = 4')))).toEqual([
      expect.stringMatching(/^sellers\[0\]\.token: a token of a seller never stands in the file/),
      expect.stringMatching(/^sellers\[0\]\.reserved: unknown key, ignored/),
    ])
  })
})
