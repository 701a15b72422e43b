import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { parseConfig, readConfig } from './config.js'
import { describe as describeFinding } from './finding.js'
import { printConfig } from './print.js'

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
        'rate_limit_per_min = 600\nchallenge_per_key_per_min = -1\nmax_open_challenges = 400',
      ),
    )
    expect(parseConfig(text).sellers).toEqual([
      {
        name: 'shop',
        token_sha256: hash('a'),
        rate_limit_per_min: undefined,
        challenge_per_key_per_min: undefined,
        max_open_challenges: 50,
      },
      {
        name: 'bakery.2',
        token_sha256: hash('b'),
        rate_limit_per_min: 600,
        challenge_per_key_per_min: -1,
        max_open_challenges: 400,
      },
    ])
  })

  it('is printed so that it can be read again', () => {
    const config = parseConfig(
      withSellers(seller('shop', 'a', 'max_open_challenges = 7'), seller('other', 'b')),
    )
    expect(parseConfig(printConfig(config, {})).sellers).toEqual(config.sellers)
  })

  it('names each mistake with its place and its line', () => {
    const text = withSellers(
      seller('shop', 'a'),
      '[[sellers]]\nname = "A Shop"\ntoken_sha256 = "abc"\nmax_open_challenges = -1\n',
      '[[sellers]]\nname = "third"\n',
    )
    expect(findingsOf(text)).toEqual([
      expect.stringMatching(/^sellers\[1\]\.name: /),
      expect.stringMatching(/^sellers\[1\]\.token_sha256: must be a SHA-256 hash, 64 hex digits/),
      expect.stringMatching(/^sellers\[1\]\.max_open_challenges: /),
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

  it('refuses two sellers of one name, two of one token, and more challenges than there are', () => {
    const text = withSellers(
      seller('shop', 'a', 'max_open_challenges = 600'),
      seller('shop', 'b', 'max_open_challenges = 351'),
      seller('third', 'a'),
    )
    expect(findingsOf(text)).toEqual([
      expect.stringMatching(/^sellers\[1\]\.name: is that of sellers\[0\], too/),
      expect.stringMatching(/^sellers\[2\]\.token_sha256: is that of sellers\[0\], too/),
      expect.stringMatching(/^sellers\[2\]\.max_open_challenges: .* which is 1000, have 1001/),
    ])
  })

  it('refuses a token in the file, and warns about a key that nobody reads', () => {
    expect(findingsOf(withSellers(seller('shop', 'a', 'token = "hush"\nreserved = 4')))).toEqual([
      expect.stringMatching(/^sellers\[0\]\.token: a token of a seller never stands in the file/),
      expect.stringMatching(/^sellers\[0\]\.reserved: unknown key, ignored/),
    ])
  })
})
