import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../test/config.js'
import { parseConfig } from './config.js'
import { readSecrets, Secret } from './secrets.js'
import { createLog } from './telemetry/log.js'

const key = (digit: string) => `0x${digit.repeat(64)}`
const development = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const good = { SVC_TREASURY_PK: key('a'), SVC_RELAYER_PK: key('b'), SVC_ADMIN_TOKEN: 'admin' }
const local = parseConfig(minimalConfig())

const problemsOf = (env: Record<string, string | undefined>, config = local): string[] => {
  try {
    readSecrets(config, env)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

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
  it('R-081 R-082 reads both keys and the admin token, and shows none of them', () => {
    const { secrets, warnings } = readSecrets(local, good)
    expect(warnings).toEqual([])
    expect(Buffer.from(secrets.treasuryKey.reveal()).toString('hex')).toBe('a'.repeat(64))
    expect(secrets.adminToken?.reveal()).toBe('admin')
    const printed = `${inspect(secrets, { depth: 9 })} ${JSON.stringify(secrets)}`
    expect(printed).not.toContain('b'.repeat(64))
    expect(printed).not.toContain(secrets.relayer.reveal().address)
  })

  it('R-081 R-082 names every missing or malformed key at once, without its value', () => {
    expect(problemsOf({})).toEqual(['SVC_TREASURY_PK: required', 'SVC_RELAYER_PK: required'])
    for (const bad of ['0x12', 'a'.repeat(64), key('0'), key('f'), `${key('a')}00`, 'secret words']) {
      const problems = problemsOf({ ...good, SVC_RELAYER_PK: bad, SVC_TREASURY_PK: bad })
      expect(problems).toEqual([
        'SVC_TREASURY_PK: must be a 32-byte hex private key',
        'SVC_RELAYER_PK: must be a 32-byte hex private key',
      ])
    }
  })

  it('R-083 demands the admin token for any bind and profile but local loopback', () => {
    const { SVC_ADMIN_TOKEN: _none, ...without } = good
    expect(problemsOf(without)).toEqual([])
    const configs = [
      minimalConfig({}, 'testnet'),
      minimalConfig({}, 'production'),
      minimalConfig({}, ''),
      minimalConfig({ listen: "host = '0.0.0.0'" }),
    ]
    for (const text of configs) {
      expect(problemsOf(without, parseConfig(text))).toEqual([expect.stringContaining('SVC_ADMIN_TOKEN')])
      expect(problemsOf({ ...without, SVC_ADMIN_TOKEN: '' }, parseConfig(text))).toHaveLength(1)
      expect(problemsOf(good, parseConfig(text))).toEqual([])
    }
  })

  it('R-084 takes well-known keys, with a warning, only when all four conditions hold', () => {
    const env = { ...good, SVC_TREASURY_PK: development, SVC_RELAYER_PK: `0x${'1'.padStart(64, '0')}` }
    expect(readSecrets(local, env).warnings).toHaveLength(2)
    const broken = [
      minimalConfig({}, 'testnet'),
      minimalConfig({ listen: "host = '0.0.0.0'" }),
      minimalConfig().replace('http://127.0.0.1:8545', 'https://rpc.example.org'),
      minimalConfig().replace('chain_id = 31337', 'chain_id = 1'),
    ]
    for (const text of broken) {
      const problems = problemsOf(env, parseConfig(text))
      expect(problems).toHaveLength(2)
      for (const problem of problems) expect(problem).toContain('well-known development key')
    }
    expect(
      readSecrets(local, { ...env, SVC_TREASURY_PK: development.toUpperCase().replace('0X', '0x') }).warnings,
    ).toHaveLength(2)
  })
})
