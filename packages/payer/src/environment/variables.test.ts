import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { address } from '../../test/offers.js'
import { stateFolder } from './env.js'
import { isTakenOut, readEnvironment, variableNames } from './variables.js'

const key = `0x${'5e'.repeat(32)}`
const read = (environment: Record<string, string>) => readEnvironment(environment)
const messageOf = (environment: Record<string, string>) => {
  try {
    read(environment)
  } catch (error) {
    expect(error).toMatchObject({ code: 'payer_misconfigured' })
    return (error as Error).message
  }
  throw new Error('nothing was refused')
}

describe('an empty environment', () => {
  const { settings, warnings } = read({})

  it('R-090 has no key', () => expect(settings.SVC_PAYER_PK).toBeUndefined())
  it('R-091 reads the local chain', () => expect(settings.SVC_RPC_URL).toBe('http://127.0.0.1:8545'))
  it('R-092 pays by permit', () => expect(settings.SVC_MODE).toBe('permit'))
  it('R-093 waits thirty seconds for an answer', () => expect(settings.SVC_TIMEOUT_MS).toBe(30_000))
  it('R-094 speaks to this machine only', () =>
    expect(settings.SVC_ALLOWED_HOSTS).toEqual([
      { hostname: 'localhost', port: undefined },
      { hostname: '127.0.0.1', port: undefined },
    ]))
  it('R-095 pays on the local network only', () => expect(settings.SVC_ALLOWED_NETWORK).toBe('eip155:31337'))
  it('R-096 pins no token', () => expect(settings.SVC_ALLOWED_TOKEN).toBeUndefined())
  it('R-097 R-098 R-099 has no caps and asks nobody', () => {
    const { SVC_MAX_PER_PAYMENT, SVC_MAX_TOTAL, SVC_APPROVE_ABOVE } = settings
    expect([SVC_MAX_PER_PAYMENT, SVC_MAX_TOTAL, SVC_APPROVE_ABOVE]).toEqual([undefined, undefined, undefined])
  })
  it('R-100 gives a human two minutes', () => expect(settings.SVC_APPROVAL_TIMEOUT_MS).toBe(120_000))

  it('warns of every choice about money that nobody made', () => {
    expect(warnings.map((warning) => warning.split(' ')[0])).toEqual([
      'SVC_ALLOWED_TOKEN',
      'SVC_MAX_PER_PAYMENT',
      'SVC_MAX_TOTAL',
    ])
  })
})

describe('a value', () => {
  it('is taken as it is written', () => {
    const { settings } = read({
      SVC_PAYER_PK: key,
      SVC_MODE: 'self-transfer',
      SVC_ALLOWED_HOSTS: ' api.example , [::1]:8080,*'.replace(',*', ''),
      SVC_MAX_TOTAL: '5000',
      SVC_ALLOWED_TOKEN: address(1).toUpperCase().replace('0X', '0x'),
    })
    expect(settings).toMatchObject({
      SVC_MODE: 'self-transfer',
      SVC_ALLOWED_HOSTS: [
        { hostname: 'api.example', port: undefined },
        { hostname: '[::1]', port: '8080' },
      ],
      SVC_MAX_TOTAL: 5_000n,
      SVC_ALLOWED_TOKEN: [address(1)],
    })
    expect(settings.SVC_PAYER_PK?.reveal()).toBe(key)
  })

  const integers = [
    'SVC_MAX_PER_PAYMENT',
    'SVC_MAX_TOTAL',
    'SVC_APPROVE_ABOVE',
    'SVC_MAX_PER_HOST',
    'SVC_MAX_PER_DAY',
  ]
  const noIntegers = [
    '',
    '1e6',
    '0x10',
    '1.5',
    '-1',
    '1_000',
    ' 1',
    '1 ',
    '٣',
    '01',
    'unlimited',
    '9'.repeat(80),
  ]
  it.each(integers.flatMap((name) => noIntegers.map((value) => [name, value] as const)))(
    'R-101 that is no plain integer is refused by the name of its variable: %s=%j',
    (name, value) =>
      expect(messageOf({ [name]: value })).toMatch(new RegExp(`^${name}: .*expected a plain integer`)),
  )

  it.each([
    ['R-092', 'SVC_MODE', ['', 'Permit', 'gasless', 'permit '], 'permit or self-transfer'],
    [
      'R-093',
      'SVC_TIMEOUT_MS',
      ['', '0', '-5', '1.5', '30s', '9999999999'],
      'positive integer of milliseconds',
    ],
    ['R-100', 'SVC_APPROVAL_TIMEOUT_MS', ['', '0', 'never'], 'positive integer of milliseconds'],
    ['R-095', 'SVC_ALLOWED_NETWORK', ['', '31337', 'eip155:*', 'solana:x', 'eip155:01'], 'eip155:<chainId>'],
    ['R-096', 'SVC_ALLOWED_TOKEN', ['', 'USDC', '0x12', address(1).slice(2)], '0x and 40 hex digits'],
    ['R-094', 'SVC_ALLOWED_HOSTS', ['', 'a,,b', '*.example', 'http://a', 'a/b', 'u@a', 'a b'], 'hostnames'],
    ['R-091', 'SVC_RPC_URL', ['', '127.0.0.1:8545', 'ws://127.0.0.1', 'file:///x'], 'an http or https URL'],
  ] as const)('%s %s is refused with the form wanted', (_row, name, values, wanted) => {
    for (const value of values) {
      const message = messageOf({ [name]: value })
      expect(message, value).toMatch(new RegExp(`^${name}: `))
      expect(message, value).toContain(wanted)
    }
  })

  it('tells every fault at once, a line each', () => {
    const faults = messageOf({ SVC_MODE: 'x', SVC_TIMEOUT_MS: '0', SVC_MAX_TOTAL: '' }).split('\n')
    expect(faults.map((line) => line.split(':')[0])).toEqual(['SVC_MODE', 'SVC_TIMEOUT_MS', 'SVC_MAX_TOTAL'])
  })
})

describe('R-090 the key', () => {
  it.each([
    ['5e'.repeat(31), '62 characters'],
    ['f'.repeat(64), 'outside the curve'],
    [`0x${'5e'.repeat(31)}`, '64 characters'],
    [`0x${'zz'.repeat(32)}`, 'hex digits'],
    [`0x${'0'.repeat(64)}`, 'outside the curve'],
    [`0x${'f'.repeat(64)}`, 'outside the curve'],
  ])('must be 32 bytes of hex on the curve, and is not repeated: %j', (value, fault) => {
    const message = messageOf({ SVC_PAYER_PK: value })
    expect(message).toMatch(/^SVC_PAYER_PK: /)
    expect(message).toContain(fault)
    if (value.length > 10) expect(message).not.toContain(value.slice(2, 12))
  })

  it('that is empty is unset', () => expect(read({ SVC_PAYER_PK: '' }).settings.SVC_PAYER_PK).toBeUndefined())

  it('is the same with and without 0x', () => {
    expect(read({ SVC_PAYER_PK: key.slice(2) }).settings.SVC_PAYER_PK?.reveal()).toBe(key)
  })

  it('R-102 never shows itself: not printed, not in JSON, not inspected', () => {
    const { settings } = read({ SVC_PAYER_PK: key })
    const shown = [
      `${settings.SVC_PAYER_PK}`,
      JSON.stringify(settings.SVC_PAYER_PK),
      inspect(settings, { depth: 9 }),
    ]
    for (const text of shown) expect(text).not.toContain('5e5e')
  })

  it('in the place of another value is not repeated either', () => {
    for (const name of variableNames.filter((each) => !/FILE|DIR|PROJECT|PK|MCP_TOKEN/.test(each))) {
      expect(messageOf({ [name]: key.slice(2) }), name).not.toContain('5e5e')
    }
    // A token may look like a key. A malformed token is not repeated, and a valid one is never shown.
    expect(messageOf({ SVC_MCP_TOKEN: `${key} ` })).not.toContain('5e5e')
    expect(inspect(read({ SVC_MCP_TOKEN: key.slice(2) }).settings, { depth: 9 })).not.toContain('5e5e')
  })

  it('leaves the environment, and with it every name that sounds secret; limits stay', () => {
    expect(['SVC_PAYER_PK', 'SVC_RELAYER_PK', 'SVC_ADMIN_TOKEN', 'SVC_MY_SECRET'].map(isTakenOut)).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(['SVC_ALLOWED_TOKEN', 'SVC_MAX_TOTAL', 'HOME'].map(isTakenOut)).toEqual([false, false, false])
  })
})

describe('a name that nobody reads', () => {
  it.each([
    ['SVC_MAX_TOTALS', 'SVC_MAX_TOTAL'],
    ['SVC_MAX_PER_PAYMNT', 'SVC_MAX_PER_PAYMENT'],
    ['SVC_MAX_DAY', 'SVC_MAX_PER_DAY'],
    ['SVC_MAX_HOST', 'SVC_MAX_PER_HOST'],
    ['SVC_ALLOWED_HOST', 'SVC_ALLOWED_HOSTS'],
    ['SVC_APROVE_ABOVE', 'SVC_APPROVE_ABOVE'],
  ])('%s is warned about with the nearest one that is read', (name, meant) => {
    const { warnings } = read({ [name]: '5' })
    expect(warnings.at(-1)).toBe(
      `${name} is no variable of this program and is ignored; did you mean ${meant}?`,
    )
  })

  it('of another program of ours, or of anybody else, is left alone', () => {
    const { warnings } = read({ SVC_RELAYER_PK: key, PATH: '/bin', MAX_TOTAL: '5' })
    expect(warnings).toHaveLength(3)
  })
})

describe('the state folder', () => {
  it.each([
    [{ HOME: '/home/a', XDG_STATE_HOME: '/x' }, '/x/svc-pay'],
    [{ HOME: '/home/a', XDG_STATE_HOME: 'relative' }, '/home/a/.local/state/svc-pay'],
    [{ HOME: '/home/a' }, '/home/a/.local/state/svc-pay'],
  ])('of %j is %s', (environment, folder) => expect(stateFolder(undefined, environment)).toBe(folder))

  it('is the one that is named, whatever else is set', () =>
    expect(stateFolder('/named', { XDG_STATE_HOME: '/x' })).toBe('/named'))

  it('is asked for where there is no home', () =>
    expect(() => stateFolder(undefined, {})).toThrow('SVC_STATE_DIR'))
})
