import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { Secret, secp256k1Order } from '@svc-zerc20/protocol'
import { keccak256, stringToHex, toHex } from 'viem'
import { generatePrivateKey, mnemonicToAccount, privateKeyToAddress } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../../test/config.js'
import { createLog } from '../../../test/log.js'
import { parseConfig, readConfig } from '../config.js'
import { describe as describeFinding } from '../finding.js'
import { isDevelopmentKey } from './development-keys.js'
import { takeEnvironment } from './environment.js'
import { examineSecrets, readSecrets } from './secrets.js'

const treasuryKey = generatePrivateKey()
const relayerKey = generatePrivateKey()
const development = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const good = {
  SVC_TREASURY_PK: treasuryKey,
  SVC_RELAYER_PK: relayerKey,
  SVC_ADMIN_TOKEN: 'a token nobody guesses'.replaceAll(' ', '-'),
}
const local = parseConfig(minimalConfig())

const problemsOf = (env: Record<string, string | undefined>, config = local): string[] => {
  try {
    readSecrets(config, env)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

describe('the password of the database', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-password-')), 'password')
  const named = { ...good, SVC_STORAGE_PASSWORD_FILE: file }

  it('comes from the environment, or is the first line of a file', () => {
    writeFileSync(file, 'from a file\n')
    const passwordIn = (env: Record<string, string>) =>
      readSecrets(local, env).secrets.storagePassword?.reveal()
    expect(passwordIn({ ...good, SVC_STORAGE_PASSWORD: 'given' })).toBe('given')
    expect(passwordIn(named)).toBe('from a file')
    expect(passwordIn(good)).toBeUndefined()
  })

  it('is refused when there are two, or when the file has none', () => {
    expect(problemsOf({ ...named, SVC_STORAGE_PASSWORD: 'given' })[0]).toMatch(/unset one of them/)
    writeFileSync(file, '\nsecond line')
    expect(problemsOf(named)[0]).toMatch(/its first line is empty/)
    rmSync(dirname(file), { recursive: true })
    expect(problemsOf(named)[0]).toMatch(/cannot be read: ENOENT/)
  })
})

describe('Secret', () => {
  it('never prints, however it is printed', () => {
    const secret = new Secret('hunter2')
    const lines: string[] = []
    const log = createLog({ write: (line) => lines.push(line) })
    log({ event: 'request.failed', route: '/', err: secret })
    const printed = [
      `${secret}`,
      String(secret),
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ nested: { secret } }, { showHidden: true, depth: 9 }),
      Object.entries(secret).join(),
      ...lines,
    ]
    for (const text of printed) expect(text).not.toContain('hunter2')
    expect(secret.reveal()).toBe('hunter2')
  })
})

describe('readSecrets', () => {
  it('reads a token of a decider, which is never sent in the clear to another machine', () => {
    expect(readSecrets(local, good).secrets.deciderToken).toBeUndefined()
    const env = { ...good, SVC_DECIDER_TOKEN: 'a-token-that-nobody-guesses' }
    expect(readSecrets(local, env).secrets.deciderToken?.reveal()).toBe(env.SVC_DECIDER_TOKEN)
    const at = (decider_url: string) => ({ ...local, network: { ...local.network, decider_url } })
    expect(problemsOf(env, at('https://decider.example/'))).toEqual([])
    expect(problemsOf(env, at('http://decider.example/'))).toEqual([
      expect.stringMatching(/^network\.decider_url: needs https or a loopback host/),
    ])
    expect(problemsOf(good, at('http://decider.example/'))).toEqual([])
    expect(problemsOf(good, at('none'))).toEqual([])
    expect(problemsOf(env, at('none'))).toEqual([
      'network.decider_url: is none, but SVC_DECIDER_TOKEN is set: name the decider, or unset the token',
    ])
    expect(problemsOf({ ...good, SVC_DECIDER_TOKEN: 'short' })).toEqual([
      expect.stringMatching(/^SVC_DECIDER_TOKEN: must be printable ASCII/),
    ])
  })

  it('reads a key for mints when there is one, which is neither that of the relayer nor that of the treasury', () => {
    expect(readSecrets(local, good).secrets.minter).toBeUndefined()
    expect(readSecrets(local, { ...good, SVC_MINTER_PK: '' }).secrets.minter).toBeUndefined()
    const key = generatePrivateKey()
    const { secrets } = readSecrets(local, { ...good, SVC_MINTER_PK: key })
    expect(secrets.minter?.reveal().address).toBe(privateKeyToAddress(key))
    const upper = `0x${relayerKey.slice(2).toUpperCase()}`
    expect(problemsOf({ ...good, SVC_MINTER_PK: upper })).toEqual([
      expect.stringMatching(/^SVC_MINTER_PK: is the key of SVC_RELAYER_PK/),
    ])
    expect(problemsOf({ ...good, SVC_MINTER_PK: treasuryKey })).toEqual([
      expect.stringMatching(/^SVC_MINTER_PK: is the key of SVC_TREASURY_PK/),
    ])
    expect(problemsOf({ ...good, SVC_MINTER_PK: '0x12' })).toEqual([
      expect.stringMatching(/^SVC_MINTER_PK: must be a private key/),
    ])
  })

  it('R-081 R-082 reads both keys and the admin token, and shows none of them', () => {
    const { secrets, warnings } = readSecrets(local, good)
    expect(warnings).toEqual([])
    expect(toHex(secrets.treasuryKey.reveal())).toBe(treasuryKey)
    expect(secrets.adminToken?.reveal()).toBe(good.SVC_ADMIN_TOKEN)
    const printed = `${inspect(secrets, { depth: 9, showHidden: true })} ${JSON.stringify(secrets)}`
    for (const part of [treasuryKey.slice(2), relayerKey.slice(2), good.SVC_ADMIN_TOKEN]) {
      expect(printed).not.toContain(part)
    }
    expect(printed).not.toContain(secrets.relayer.reveal().address)
  })

  it('R-081 R-082 names every missing or malformed key at once, without its value', () => {
    expect(problemsOf({})).toEqual([
      'SVC_TREASURY_PK: required, but not set',
      'SVC_RELAYER_PK: required, but not set',
    ])
    const order = toHex(secp256k1Order, { size: 32 })
    const zero = `0x${'0'.repeat(64)}`
    for (const bad of [
      '0x12',
      'a'.repeat(63),
      zero,
      order,
      `${treasuryKey}00`,
      'secret words',
      `${treasuryKey} `,
    ]) {
      expect(problemsOf({ ...good, SVC_RELAYER_PK: bad, SVC_TREASURY_PK: bad })).toEqual(
        ['SVC_TREASURY_PK', 'SVC_RELAYER_PK'].map(
          (name) =>
            `${name}: must be a private key: 64 hex digits, with or without 0x, within the range of the curve`,
        ),
      )
    }
  })

  it('R-081 R-082 takes keys with and without 0x, and knows them for the same', () => {
    const bare = { SVC_TREASURY_PK: treasuryKey.slice(2), SVC_RELAYER_PK: relayerKey.slice(2).toUpperCase() }
    const { secrets } = readSecrets(local, { ...good, ...bare })
    const same = readSecrets(local, good).secrets
    expect(secrets.treasuryKey.reveal()).toEqual(same.treasuryKey.reveal())
    expect(secrets.relayer.reveal().address).toBe(same.relayer.reveal().address)
    expect(problemsOf({ ...good, SVC_MINTER_PK: relayerKey.slice(2) })).toEqual([
      expect.stringContaining('is the key of SVC_RELAYER_PK'),
    ])
    const development = { ...good, SVC_RELAYER_PK: '1'.repeat(64) }
    expect(problemsOf(development, { ...local, network: { ...local.network, chain_id: 1 } })).toEqual([
      expect.stringContaining('a well-known development key'),
    ])
  })

  it('R-081 R-082 looks at the keys also where the file cannot be read', () => {
    const { secrets, findings } = examineSecrets(readConfig('=').values, { SVC_RELAYER_PK: '1' })
    expect(secrets).toBe(undefined)
    expect(findings.map(({ key }) => key)).toEqual(['SVC_TREASURY_PK', 'SVC_RELAYER_PK', 'SVC_ADMIN_TOKEN'])
  })

  it('R-057 R-083 demands the admin token for any bind and profile but local loopback', () => {
    const { SVC_ADMIN_TOKEN: _none, ...without } = good
    expect(problemsOf(without)).toEqual([])
    const configs = [
      minimalConfig({}, 'testnet'),
      minimalConfig({}, 'production'),
      minimalConfig({}, ''),
      minimalConfig({ listen: "host = '0.0.0.0'" }),
      minimalConfig({ listen: "host = '::'" }),
    ]
    for (const text of configs) {
      expect(problemsOf(without, parseConfig(text))).toEqual([expect.stringContaining('SVC_ADMIN_TOKEN')])
      expect(problemsOf({ ...without, SVC_ADMIN_TOKEN: '' }, parseConfig(text))).toHaveLength(1)
      expect(problemsOf(good, parseConfig(text))).toEqual([])
    }
  })

  it('R-083 refuses a token that no header can carry, and warns about a short one', () => {
    for (const token of ['with space', 'line\nbreak', 'zażółć']) {
      const problems = problemsOf({ ...good, SVC_ADMIN_TOKEN: token })
      expect(problems).toEqual(['SVC_ADMIN_TOKEN: must be printable ASCII without spaces'])
    }
    const { warnings } = readSecrets(local, { ...good, SVC_ADMIN_TOKEN: 'hunter2' })
    expect(warnings).toEqual(['SVC_ADMIN_TOKEN: shorter than 16 characters; it can be guessed'])
  })
})

describe('takeEnvironment', () => {
  it('R-080 leaves the secrets to no thread and no process that starts later', async () => {
    Object.assign(process.env, good)
    expect(takeEnvironment()).toMatchObject(good)
    const names = JSON.stringify(Object.keys(good))
    const script = `${names}.filter((name) => process.env[name] !== undefined).join()`
    const thread = new Worker(`require('node:worker_threads').parentPort.postMessage(${script})`, {
      eval: true,
    })
    const [seen] = await once(thread, 'message')
    expect(seen).toBe('')
    expect(execFileSync(process.execPath, ['-p', script], { encoding: 'utf8' })).toBe('\n')
  })
})

describe('well-known development keys', () => {
  const wellKnown = { ...good, SVC_TREASURY_PK: development, SVC_RELAYER_PK: `0x${'1'.padStart(64, '0')}` }

  it('R-084 are taken with a warning when all four conditions hold', () => {
    const { findings, secrets } = examineSecrets(local, wellKnown)
    expect(secrets).toBeDefined()
    expect(findings.map(describeFinding)).toEqual([
      'SVC_TREASURY_PK: a well-known development key; anybody can use it',
      'SVC_RELAYER_PK: a well-known development key; anybody can use it',
    ])
    expect(findings.map(({ level }) => level)).toEqual(['warn', 'warn'])
  })

  it.each([
    ['profile = "local"', minimalConfig({}, 'testnet')],
    ['profile = "local"', minimalConfig({}, '')],
    ['a loopback listen.host', minimalConfig({ listen: "host = '0.0.0.0'" })],
    [
      'a loopback host in network.rpc_url',
      minimalConfig().replace('http://127.0.0.1:8545', 'https://127.0.0.1.example.org'),
    ],
    ['network.chain_id = 31337', minimalConfig().replace('chain_id = 31337', 'chain_id = 1337')],
  ])('R-084 are refused without %s', (missing, text) => {
    expect(problemsOf(wellKnown, parseConfig(text))).toEqual([
      `SVC_TREASURY_PK: a well-known development key, which needs ${missing}`,
      `SVC_RELAYER_PK: a well-known development key, which needs ${missing}`,
    ])
    expect(problemsOf(good, parseConfig(text))).toEqual([])
  })

  it.each([
    ['test test test test test test test test test test test junk', 20],
    ['myth like bonus scare over problem client lizard pioneer submit female collect', 10],
    ['candy maple cake sugar pudding cream honey rich smooth crumble sweet treat', 10],
    ['bottom drive obey lake curtain smoke basket hold race lonely fit walk', 10],
  ])('R-084 are the accounts of "%s"', (mnemonic, count) => {
    // The words are stretched once: that takes longer than all keys.
    const parent = mnemonicToAccount(mnemonic, { path: "m/44'/60'/0'/0" }).getHdKey()
    for (let index = 0; index < count; index++) {
      const { privateKey } = parent.deriveChild(index)
      expect(isDevelopmentKey(toHex(privateKey ?? new Uint8Array()))).toBe(true)
    }
  })

  it('R-084 are the single keys of development networks, and all that are easy to guess', () => {
    const keys = [
      '0x8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63',
      '0xb6b15c8cb491557369f3c7d2c287b053eb229daa9c22138887752191c9520659',
      '0x3d3cbc973389cb26f657686445bcc75662b415b656078503592ac8c1abb8810e',
      keccak256(stringToHex('cow')),
      toHex(1n, { size: 32 }),
      toHex(0xffff_ffffn, { size: 32 }),
      toHex(secp256k1Order - 1n, { size: 32 }),
      `0x${'11'.repeat(32)}`,
      `0x${'deadbeef'.repeat(8)}`,
      `0x${'0123456789abcdef'.repeat(4)}`,
      `0x${'AB'.repeat(32)}`,
      `0x${development.slice(2).toUpperCase()}`,
    ] as const
    for (const key of keys) expect(isDevelopmentKey(key), key).toBe(true)
    for (let i = 0; i < 20; i++) expect(isDevelopmentKey(generatePrivateKey())).toBe(false)
  })
})
