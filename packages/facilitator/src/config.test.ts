import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../test/config.js'
import { isLoopback, parseConfig } from './config.js'
import { profileOf } from './profile.js'

const problemsOf = (text: string): string[] => {
  try {
    parseConfig(text)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

describe('parseConfig', () => {
  it('R-057 R-058 R-063 R-064 R-070 R-071 R-072 R-073 R-074 fills every default', () => {
    expect(parseConfig(minimalConfig())).toMatchObject({
      listen: { host: '127.0.0.1', port: 4032 },
      settlement: {
        challenge_ttl_seconds: 300,
        expired_challenge_retention_seconds: 3600,
        receipt_poll_ms: 15_000,
        confirmations: 1,
      },
      daemon: {
        finalize_interval_ms: 15_000,
        shutdown_grace_ms: 10_000,
        rate_limit_per_min: 120,
        max_open_challenges: 1000,
        challenge_per_key_per_min: 20,
      },
      zerc20: { generation: 2, pow_bits: 16, tree_height: 40 },
    })
  })

  it('R-050 names every missing key at once', () => {
    const problems = problemsOf('')
    for (const key of ['network', 'settlement']) {
      expect(problems.some((problem) => problem.startsWith(`${key}:`))).toBe(true)
    }
    const all = problemsOf('[network]\n[settlement]\n')
    for (const key of [
      'network.rpc_url',
      'network.indexer_url',
      'network.decider_url',
      'network.chain_id',
      'network.token',
      'network.verifier',
      'network.hub',
      'settlement.treasury',
      'settlement.journal',
    ]) {
      expect(all.some((problem) => problem.startsWith(`${key}:`))).toBe(true)
    }
  })

  it.each([
    ['R-063', 'settlement', 'challenge_ttl_seconds = 0'],
    ['R-064', 'settlement', 'expired_challenge_retention_seconds = -1'],
    ['R-070', 'daemon', 'finalize_interval_ms = 999'],
    ['R-073', 'daemon', 'max_open_challenges = 0'],
    ['R-072', 'daemon', 'rate_limit_per_min = -1'],
    ['R-058', 'listen', 'port = 65536'],
  ])('%s refuses [%s] %s', (_row, table, line) => {
    const key = line.split(' ')[0] ?? ''
    expect(problemsOf(minimalConfig({ [table]: line }))).toEqual([
      expect.stringContaining(`${table}.${key}:`),
    ])
  })

  it.each([
    ['R-074', 'daemon', 'challenge_per_key_per_min = -5'],
    ['R-072', 'daemon', 'rate_limit_per_min = 0'],
    ['R-064', 'settlement', 'expired_challenge_retention_seconds = 0'],
    ['R-063', 'settlement', 'challenge_ttl_seconds = 1'],
  ])('%s takes [%s] %s', (_row, table, line) => {
    expect(problemsOf(minimalConfig({ [table]: line }))).toEqual([])
  })

  it('says what is not TOML, and refuses what would do nothing yet', () => {
    expect(problemsOf('= 1')[0]).toMatch(/^not TOML/)
    const journal = minimalConfig().replace("journal = 'none'", "journal = '/somewhere'")
    expect(problemsOf(journal)).toEqual([expect.stringContaining('settlement.journal')])
    const fee = `${minimalConfig()}\n[fee]\nbps = 1\nmin_per_payment = '0'\ncharge_to = 'payer'\n`
    expect(problemsOf(fee)).toEqual([expect.stringContaining('fee:')])
  })

  it('R-051 only local, said in words, accepts payments', () => {
    expect(profileOf({ profile: 'local' }).acceptsPayments).toBe(true)
    for (const profile of ['testnet', 'production', undefined] as const) {
      expect(profileOf({ profile }).acceptsPayments).toBe(false)
    }
  })
})

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['localhost', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.1.example.org', false],
    ['localhost.example.org', false],
    ['10.0.0.1', false],
  ])('%s is %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected)
  })
})
