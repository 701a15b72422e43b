import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { generatePrivateKey } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../../test/config.js'
import { parseConfig } from '../config.js'
import { format, isFailure } from '../finding.js'
import { printConfig } from '../print.js'
import { historyUrlOf } from '../settings.js'
import { environmentVariables, historyVariables, isTakenOut } from './environment.js'
import { examineHistory } from './history.js'
import { examineSecrets } from './secrets.js'

type Env = Record<string, string>

const payerAddress = `0x${'a1'.repeat(20)}`
const providerAddress = `0x${'b2'.repeat(20)}`

const group: Env = {
  PAYMENT_HISTORY_PATH: '/var/lib/svc/history.jsonl',
  HISTORY_IDENTITY_SECRET: 'Zq0-this-one-nobody-will-ever-guess',
  HISTORY_PAYER_TENANT: 'Buyers Ltd',
  HISTORY_PAYER_ACTOR: 'purchasing@buyers.example',
  HISTORY_PROVIDER_TENANT: 'Sellers GmbH',
  HISTORY_PROVIDER_ACTOR: 'accounts@sellers.example',
}
const wallets: Env = { HISTORY_PAYER_ADDRESS: payerAddress, HISTORY_PROVIDER_ADDRESS: providerAddress }
const issuer: Env = {
  HISTORY_ISSUER_PRIVATE_KEY_PATH: '/etc/svc/issuer.key',
  HISTORY_ISSUER_MANIFEST_PATH: '/etc/svc/manifest.jwt',
  HISTORY_ISSUER_TRUST_ANCHOR_PATH: '/etc/svc/anchor.json',
  HISTORY_ARTIFACT_PATH: '/var/lib/svc/statements',
}
const refinements: Env = {
  HISTORY_ISSUER_ID: 'https://facilitator.example',
  HISTORY_ISSUER_KEY_ID: 'key-of-spring',
  HISTORY_PROOF_TTL_SECONDS: '7654321',
}

const withJournal = minimalConfig().replace("journal = 'none'", "journal = '/var/lib/svc/journal.jsonl'")
const config = parseConfig(withJournal)

const without = (env: Env, ...names: string[]): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
const linesOf = (env: Env, settings = config) => examineHistory(env, settings).findings.map(format)
const settingsOf = (env: Env) => examineHistory(env, config).history

describe('the history group', () => {
  it('R-085 attaches the history when it is complete, and is silent when none of it is set', () => {
    expect(linesOf(group)).toEqual([])
    const history = settingsOf(group)
    expect(history).toMatchObject({
      path: group.PAYMENT_HISTORY_PATH,
      participants: {
        payer: { tenant: 'Buyers Ltd', actor: 'purchasing@buyers.example' },
        provider: { tenant: 'Sellers GmbH', actor: 'accounts@sellers.example' },
      },
      hasWalletLogin: false,
    })
    expect(history?.identitySecret.reveal()).toBe(group.HISTORY_IDENTITY_SECRET)
    expect(history).not.toHaveProperty('issuer')
    expect(examineHistory({ PATH: '/bin' }, config)).toEqual({ history: undefined, findings: [] })
  })

  it.each(Object.keys(group))('R-085 leaves the history detached without %s, and warns', (name) => {
    const line = `warn ${name}: not set: the payment history is not attached; it needs its whole group of variables`
    expect(linesOf(without(group, name))).toEqual([line])
    // An empty variable in an environment file means that there is none.
    expect(linesOf({ ...group, [name]: '' })).toEqual([line])
    expect(settingsOf({ ...group, [name]: '' })).toBeUndefined()
  })

  it('R-085 names everything that is missing in one warning, whatever else is set', () => {
    const others = Object.keys(group).slice(1).join(', ')
    const line = `warn PAYMENT_HISTORY_PATH: not set, and neither are ${others}: the payment history is not attached; it needs its whole group of variables`
    for (const env of [wallets, issuer, { ...wallets, ...issuer, ...refinements }]) {
      expect(linesOf(env)).toEqual([line])
    }
    expect(linesOf(without(group, 'HISTORY_PAYER_ACTOR', 'HISTORY_PAYER_TENANT'))).toEqual([
      expect.stringMatching(/^warn HISTORY_PAYER_TENANT: not set, and neither is HISTORY_PAYER_ACTOR: /),
    ])
  })

  it('R-085 lets the daemon start without history while a part of the group is missing', () => {
    const keys = { SVC_TREASURY_PK: generatePrivateKey(), SVC_RELAYER_PK: generatePrivateKey() }
    const detached = examineSecrets(config, { ...keys, ...without(group, 'HISTORY_PAYER_ACTOR') })
    expect(detached.secrets).toBeDefined()
    expect(detached.secrets).not.toHaveProperty('history')
    const attached = examineSecrets(config, { ...keys, ...group })
    expect(attached.secrets?.history?.path).toBe(group.PAYMENT_HISTORY_PATH)
    const bad = examineSecrets(config, { ...keys, ...group, HISTORY_IDENTITY_SECRET: 'short' })
    expect(bad.secrets).toBeUndefined()
  })

  it.each<[string, string, RegExp]>([
    ['PAYMENT_HISTORY_PATH', '  ', /^must be the path of a file; its folder must exist$/],
    ['PAYMENT_HISTORY_PATH', '/var/lib/svc/journal.jsonl', /is the place of settlement\.journal/],
    ['PAYMENT_HISTORY_PATH', '/var/lib/svc/journal.jsonl.issued', /is the place of settlement\.journal/],
    ['PAYMENT_HISTORY_PATH', '/var/lib/svc/../svc/journal', /is the place of settlement\.journal/],
    [
      'HISTORY_IDENTITY_SECRET',
      'only-thirty-one-characters-long',
      /must be 32 characters or more.*openssl rand/,
    ],
    ['HISTORY_PAYER_TENANT', 'x'.repeat(201), /must be 1 to 200 printable characters/],
    ['HISTORY_PAYER_ACTOR', 'two\nlines', /must be 1 to 200 printable characters/],
    ['HISTORY_PROVIDER_TENANT', ' blank', /without blanks at its ends/],
    ['HISTORY_PROVIDER_ACTOR', ' ', /without blanks at its ends/],
  ])('R-085 refuses a bad value of %s (%j)', (name, value, message) => {
    const { history, findings } = examineHistory({ ...group, [name]: value }, config)
    expect(history).toBeUndefined()
    expect(findings).toEqual([{ level: 'fail', key: name, message: expect.stringMatching(message) }])
  })

  it('R-085 refuses a participant who is both payer and provider', () => {
    const { HISTORY_PAYER_TENANT = '', HISTORY_PAYER_ACTOR = '' } = group
    const sameTenant = { ...group, HISTORY_PROVIDER_TENANT: HISTORY_PAYER_TENANT }
    expect(linesOf(sameTenant)).toEqual([])
    expect(linesOf({ ...sameTenant, HISTORY_PROVIDER_ACTOR: HISTORY_PAYER_ACTOR })).toEqual([
      expect.stringMatching(/^fail HISTORY_PROVIDER_ACTOR: is that of the payer, and so is the tenant/),
    ])
  })

  it('starts relative paths at the working directory', () => {
    const env = {
      ...group,
      ...issuer,
      PAYMENT_HISTORY_PATH: 'history.jsonl',
      HISTORY_ARTIFACT_PATH: 'statements',
    }
    const { path, issuer: { artifactPath } = {} } = settingsOf(env) ?? {}
    expect([path, artifactPath]).toEqual([resolve('history.jsonl'), resolve('statements')])
  })

  it('says without a journal what it cannot promise', () => {
    expect(linesOf(group, parseConfig(minimalConfig()))).toEqual([
      expect.stringMatching(/^warn PAYMENT_HISTORY_PATH: settlement\.journal is "none": .* for good$/),
    ])
  })

  it('warns of a name that it does not know, and takes it out of the environment all the same', () => {
    const typo = { HISTORY_IDENTIY_SECRET: 'Zq0-this-one-nobody-will-ever-guess' }
    expect(linesOf(typo)).toEqual([
      'warn HISTORY_IDENTIY_SECRET: no variable of the payment history has this name; it is ignored',
    ])
    expect(isTakenOut('HISTORY_IDENTIY_SECRET')).toBe(true)
  })
})

describe('the secret of the tokens', () => {
  it('is no secret of another purpose', () => {
    for (const { name } of environmentVariables) {
      const value = generatePrivateKey()
      expect(linesOf({ ...group, [name]: value, HISTORY_IDENTITY_SECRET: value })).toEqual([
        `fail HISTORY_IDENTITY_SECRET: is ${name}: whoever has one would have the other; make it with openssl rand -hex 32`,
      ])
    }
  })

  it('is worth a warning when it was typed and not drawn', () => {
    expect(linesOf({ ...group, HISTORY_IDENTITY_SECRET: 'abc'.repeat(11) })).toEqual([
      'warn HISTORY_IDENTITY_SECRET: has few different characters; it can be guessed',
    ])
  })
})

describe('the wallet addresses', () => {
  it('R-087 allow wallet login together', () => {
    expect(linesOf({ ...group, ...wallets })).toEqual([])
    expect(settingsOf({ ...group, ...wallets })).toMatchObject({
      participants: { payer: { address: payerAddress }, provider: { address: providerAddress } },
      hasWalletLogin: true,
    })
    expect(settingsOf(group)?.hasWalletLogin).toBe(false)
  })

  it.each([
    ['HISTORY_PAYER_ADDRESS', 'HISTORY_PROVIDER_ADDRESS', 'payer'],
    ['HISTORY_PROVIDER_ADDRESS', 'HISTORY_PAYER_ADDRESS', 'provider'],
  ] as const)('R-087 allow no wallet login when %s stands alone, with a warning', (name, other, role) => {
    const env = { ...group, [name]: wallets[name] ?? '' }
    const history = settingsOf(env)
    expect(history?.hasWalletLogin).toBe(false)
    // The payer's own address still says which payments are the payer's.
    expect(history?.participants[role].address).toBe(wallets[name])
    expect(linesOf(env)).toEqual([
      `warn ${other}: not set, while the other address is: there is no wallet login without both`,
    ])
  })

  it.each([
    ['0x12', 'no address'],
    [`0x${'0'.repeat(40)}`, 'the zero address'],
    ['0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 'wrong capitals'],
  ])('R-087 are refused when one is %s (%s)', (value) => {
    for (const name of Object.keys(wallets)) {
      const { history, findings } = examineHistory({ ...group, ...wallets, [name]: value }, config)
      expect(history).toBeUndefined()
      expect(findings).toMatchObject([{ level: 'fail', key: name }])
    }
  })

  it('R-087 are two', () => {
    const env = {
      ...group,
      ...wallets,
      HISTORY_PROVIDER_ADDRESS: payerAddress.toUpperCase().replace('X', 'x'),
    }
    expect(linesOf(env)).toEqual([
      'fail HISTORY_PROVIDER_ADDRESS: is HISTORY_PAYER_ADDRESS: a login could not tell who it is',
    ])
  })
})

describe('the issuer group', () => {
  const names = Object.keys(issuer)

  it('R-086 makes an issuer when it is complete', () => {
    expect(linesOf({ ...group, ...issuer })).toEqual([])
    expect(settingsOf({ ...group, ...issuer })?.issuer).toEqual({
      privateKeyPath: issuer.HISTORY_ISSUER_PRIVATE_KEY_PATH,
      manifestPath: issuer.HISTORY_ISSUER_MANIFEST_PATH,
      trustAnchorPath: issuer.HISTORY_ISSUER_TRUST_ANCHOR_PATH,
      artifactPath: issuer.HISTORY_ARTIFACT_PATH,
      statementTtlSeconds: 2_592_000,
    })
  })

  // Every proper part of the group: 14 of them.
  const parts = Array.from({ length: 2 ** names.length - 2 }, (_, place) =>
    names.filter((_name, bit) => (((place + 1) >> bit) & 1) === 1),
  )

  it.each(parts.map((part) => [part] as const))('R-086 fails closed with only %j of it', (part) => {
    const missing = names.filter((name) => !part.includes(name))
    const some = Object.fromEntries(part.map((name) => [name, issuer[name] ?? '']))
    for (const env of [{ ...group, ...some }, some, { ...some, ...group, [missing[0] ?? '']: '' }]) {
      const { history, findings } = examineHistory(env, config)
      expect(history).toBeUndefined()
      expect(findings.filter(isFailure).map(({ key }) => key)).toEqual(missing)
    }
    const keys = { SVC_TREASURY_PK: generatePrivateKey(), SVC_RELAYER_PK: generatePrivateKey() }
    expect(examineSecrets(config, { ...keys, ...some }).secrets).toBeUndefined()
  })

  it('R-086 keeps its files apart from those of the history', () => {
    const at = { ...issuer, HISTORY_ARTIFACT_PATH: `${group.PAYMENT_HISTORY_PATH}.index` }
    expect(linesOf({ ...group, ...at })).toEqual([
      'fail HISTORY_ARTIFACT_PATH: is the place of PAYMENT_HISTORY_PATH or of a file beside it; take another name',
    ])
  })

  it('R-088 is refined by issuer id, key id and lifetime', () => {
    const env = { ...group, ...issuer, ...refinements }
    expect(linesOf(env)).toEqual([])
    expect(settingsOf(env)?.issuer).toMatchObject({
      id: 'https://facilitator.example',
      keyId: 'key-of-spring',
      statementTtlSeconds: 7_654_321,
    })
  })

  it.each(Object.keys(refinements))('R-088 is needed by %s, which is ignored without it', (name) => {
    const one = { [name]: refinements[name] ?? '' }
    expect(linesOf({ ...group, ...one })).toEqual([
      `warn ${name}: ignored: it refines a statement issuer, which needs ${names.join(', ')}`,
    ])
    expect(settingsOf({ ...group, ...one })).not.toHaveProperty('issuer')
    // A value that would be refused with an issuer does not matter without one.
    expect(settingsOf({ ...group, [name]: '\n' })).toBeDefined()
    // Half a group does not become whole by it.
    const half = { ...group, ...one, ...without(issuer, 'HISTORY_ARTIFACT_PATH') }
    expect(linesOf(half)).toEqual([
      expect.stringMatching(
        /^fail HISTORY_ARTIFACT_PATH: not set, but a statement issuer needs its whole group/,
      ),
      `warn ${name}: ignored: it refines a statement issuer, which needs HISTORY_ARTIFACT_PATH`,
    ])
  })

  it.each([
    ['HISTORY_ISSUER_ID', 'x'.repeat(201)],
    ['HISTORY_ISSUER_KEY_ID', 'tab\there'],
    ...['0', '-1', '1.5', '1e3', ' 60', '3600s', '316224001', '99999999999'].map((value) => [
      'HISTORY_PROOF_TTL_SECONDS',
      value,
    ]),
  ])('R-088 refuses a bad value of %s (%j), with a history and without', (name = '', value = '') => {
    for (const env of [
      { ...group, ...issuer, [name]: value },
      { ...issuer, [name]: value },
    ]) {
      const { history, findings } = examineHistory(env, config)
      expect(history).toBeUndefined()
      expect(findings.filter(isFailure).map(({ key }) => key)).toEqual([name])
    }
  })
})

describe('what is said about the history', () => {
  const everything = { ...group, ...wallets, ...issuer, ...refinements }

  it('shows no value of any variable: neither the settings, nor a finding, nor the printed configuration', () => {
    expect(Object.keys(everything).sort()).toEqual(historyVariables.map(({ name }) => name).sort())
    const bad = Object.fromEntries(Object.keys(everything).map((name) => [name, `\n!-${name}-value`]))
    const texts = [everything, bad].map((env) => [printConfig(config, env), ...linesOf(env)].join('\n'))
    for (const value of Object.values(everything)) expect(texts.join('\n')).not.toContain(value)
    expect(texts.join('\n')).not.toContain('-value')
    const settings = settingsOf(everything)
    const printed = `${inspect(settings, { depth: 9, showHidden: true })} ${JSON.stringify(settings)}`
    expect(printed).not.toContain(group.HISTORY_IDENTITY_SECRET)
  })

  it('takes every variable of the table out of the environment', () => {
    expect(historyVariables.filter(({ name }) => !isTakenOut(name))).toEqual([])
  })
})

describe('the URL of the history', () => {
  const at = (lines: Record<string, string>) =>
    parseConfig(minimalConfig(lines).replace("journal = 'none'", "journal = '/journal'"))
  const history = (line: string) => at({ daemon: `[history]\n${line}\n` })

  it('is where the daemon listens, unless the file says otherwise', () => {
    expect(historyUrlOf(config)).toBe('http://127.0.0.1:4032')
    expect(historyUrlOf(at({ listen: 'port = 0' }), 40_321)).toBe('http://127.0.0.1:40321')
    expect(historyUrlOf(at({ listen: "host = '::1'" }))).toBe('http://[::1]:4032')
    expect(historyUrlOf(history("url = 'https://Pay.example:443/svc//'"), 1)).toBe('https://pay.example/svc')
  })

  it.each(['ftp://pay.example', 'https://user:pass@pay.example', 'https://pay.example/?a=b', 'https://x/#y'])(
    'is not %s',
    (url) => {
      expect(() => history(`url = '${url}'`)).toThrow(/^history\.url: must be an http or https URL without/)
    },
  )

  it('is worth a warning where it is in the clear, or names an address that nobody types', () => {
    expect(linesOf(group, history("url = 'http://pay.example'"))).toEqual([
      'warn history.url: is not https: tokens and histories cross the network in the clear',
    ])
    expect(linesOf(group, history("url = 'https://pay.example'"))).toEqual([])
    expect(linesOf(group, history("url = 'http://localhost:4032'"))).toEqual([])
    expect(linesOf(group, at({ listen: 'port = 0' }))).toEqual([
      expect.stringMatching(/^warn history\.url: not set, while listen\.port is 0/),
    ])
    expect(linesOf(group, at({ listen: "host = '0.0.0.0'" }))).toEqual([
      expect.stringMatching(/^warn history\.url: not set, while others can reach listen\.host/),
    ])
    expect(linesOf({}, history("url = 'http://pay.example'"))).toEqual([])
  })
})
