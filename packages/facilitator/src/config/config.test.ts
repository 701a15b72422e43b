import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { temporaryFiles } from '../../test/files.js'
import { parseConfig, readConfig, readConfigFile } from './config.js'
import { describe as describeFinding } from './finding.js'
import { configTables } from './schema.js'
import { feeTermsOf, profileOf } from './settings.js'

const findingsOf = (text: string) => readConfig(text).findings
const problemsOf = (text: string): string[] =>
  findingsOf(text)
    .filter(({ level }) => level === 'fail')
    .map(describeFinding)
const warningsOf = (text: string): string[] =>
  findingsOf(text)
    .filter(({ level }) => level === 'warn')
    .map(describeFinding)
/** The first line that contains the text. */

const treasury = `0x${'1'.repeat(40)}`
const other = `0x${'2'.repeat(40)}`

describe('readConfig', () => {
  it('R-057 R-058 R-063 R-064 R-070 R-071 R-072 R-073 R-074 fills every default', () => {
    expect(parseConfig(minimalConfig())).toMatchObject({
      listen: { host: '127.0.0.1', port: 4032, trusted_proxies: undefined },
      settlement: {
        permit_burner: undefined,
        challenge_ttl_seconds: 300,
        expired_challenge_retention_seconds: 3600,
        receipt_poll_ms: 15_000,
        confirmations: 1,
        max_fee_per_gas_gwei: 500,
        max_priority_fee_gwei: 100,
        reorg_watch_blocks: 64,
      },
      fee: undefined,
      daemon: {
        finalize_interval_ms: 15_000,
        shutdown_grace_ms: 10_000,
        rate_limit_per_min: 120,
        max_open_challenges: 1000,
        challenge_per_key_per_min: 20,
      },
      finalize: {
        confirmations: 3,
        prover_processes: 1,
        delay_max_ms: 60_000,
        mode: 'single',
        epoch_seconds: 86_400,
        batch_least: 20,
        batch_wait_max_ms: 21_600_000,
        batch_jitter_ms: 600_000,
      },
      history: { url: undefined },
      zerc20: { pow_bits: 16, pool_size: 256, artifacts: undefined },
    })
  })

  it('R-050 R-052 R-053 R-054 R-055 R-056 R-060 R-062 has no default network, contract, treasury or journal', () => {
    const required = [
      'network.rpc_url',
      'network.indexer_url',
      'network.decider_url',
      'network.chain_id',
      'network.token',
      'network.verifier',
      'network.hub',
      'settlement.treasury',
      'settlement.journal',
    ]
    const missing = (text: string) => findingsOf(text).map(({ key }) => key)
    expect(missing('')).toEqual(required)
    expect(missing('[network]\n[settlement]\n')).toEqual(required)
    for (const path of required) {
      const name = path.split('.')[1]
      expect(missing(minimalConfig().replace(new RegExp(`^${name} = .*$`, 'm'), ''))).toEqual([path])
    }
  })

  it.each([
    ['R-052', 'network', "rpc_url = 'ws://127.0.0.1'", 'an http or https URL, is "ws://127.0.0.1"'],
    ['R-053', 'network', 'indexer_url = 1', 'an http or https URL, is 1'],
    ['R-054', 'network', "decider_url = 'decider'", 'an http or https URL, or "none", is "decider"'],
    ['R-055', 'network', 'chain_id = 0', 'an integer of at least 1, is 0'],
    ['R-055', 'network', 'chain_id = 1.0', 'an integer of at least 1, is 1.0'],
    ['R-055', 'network', "chain_id = '1'", 'an integer of at least 1, is "1"'],
    ['R-056', 'network', "token = '0x12'", 'an address, 0x and 40 hex digits, not zero, is "0x12"'],
    ['R-056', 'network', `hub = '0x${'0'.repeat(40)}'`, 'an address, 0x and 40 hex digits'],
    ['R-057', 'listen', "host = '127.0.0.1:80'", 'an IP address or a host name, without a port'],
    ['R-058', 'listen', 'port = 65536', 'an integer of at least 0 and at most 65535, is 65536'],
    ['R-059', 'listen', "trusted_proxies = ['10.0.0.0/33']", 'IP addresses or CIDR blocks'],
    ['R-059', 'listen', 'trusted_proxies = true', 'IP addresses or CIDR blocks'],
    ['R-061', 'settlement', 'permit_burner = false', 'an address, 0x and 40 hex digits'],
    ['R-062', 'settlement', "journal = ' '", 'the path of a file, or "none", is " "'],
    ['R-063', 'settlement', 'challenge_ttl_seconds = 0', 'an integer of at least 1, is 0'],
    ['R-064', 'settlement', 'expired_challenge_retention_seconds = -1', 'an integer of at least 0, is -1'],
    ['R-070', 'daemon', 'finalize_interval_ms = 999', 'an integer of at least 1000, is 999'],
    ['R-071', 'daemon', 'shutdown_grace_ms = -1', 'an integer of at least 0, is -1'],
    ['R-072', 'daemon', 'rate_limit_per_min = -1', 'an integer of at least 0, is -1'],
    ['R-073', 'daemon', 'max_open_challenges = 0', 'an integer of at least 1, is 0'],
    ['R-074', 'daemon', 'challenge_per_key_per_min = 1.5', 'an integer, is 1.5'],
  ])('%s refuses [%s] %s, and says what is allowed', (_row, table, line, expected) => {
    const name = line.split(' ')[0] ?? ''
    const base = minimalConfig().replace(new RegExp(`^${name} = .*\n`, 'm'), '')
    const text = base.replace(`[${table}]\n`, `[${table}]\n${line}\n`)
    const [problem, ...more] = problemsOf(text)
    expect(more).toEqual([])
    expect(problem).toContain(`${table}.${name}: must be ${expected}`)
  })

  it.each([
    ['R-059', 'listen', "trusted_proxies = '10.0.0.0/8, ::1'"],
    ['R-059', 'listen', "trusted_proxies = ['192.0.2.1', '2001:db8::/32', 'loopback']"],
    ['R-063', 'settlement', 'challenge_ttl_seconds = 1'],
    ['R-064', 'settlement', 'expired_challenge_retention_seconds = 0'],
    ['R-070', 'daemon', 'finalize_interval_ms = 1000'],
    ['R-072', 'daemon', 'rate_limit_per_min = 0'],
    ['R-073', 'daemon', 'max_open_challenges = 1'],
    ['R-074', 'daemon', 'challenge_per_key_per_min = -5'],
    ['R-057', 'listen', "host = '::1'"],
  ])('%s takes [%s] %s', (_row, table, line) => {
    expect(findingsOf(minimalConfig({ [table]: line }))).toEqual([])
  })

  it('R-059 hands the proxies on as they are written', () => {
    const given = (line: string) => parseConfig(minimalConfig({ listen: line })).listen.trusted_proxies
    expect(given("trusted_proxies = '10.0.0.0/8, ::1'")).toBe('10.0.0.0/8, ::1')
    expect(given("trusted_proxies = ['10.0.0.0/8']")).toEqual(['10.0.0.0/8'])
  })

  it('R-062 takes any journal path, relative ones from the folder of the file, and none', () => {
    const withJournal = (journal: string) => minimalConfig().replace("'none'", `'${journal}'`)
    const journalOf = (journal: string, directory: string) =>
      parseConfig(withJournal(journal), { directory }).settlement.journal
    expect(journalOf('a/b.jsonl', '/etc/svc')).toBe('/etc/svc/a/b.jsonl')
    expect(journalOf('/var/b.jsonl', '/etc/svc')).toBe('/var/b.jsonl')
    expect(journalOf('none', '/etc/svc')).toBe('none')
    expect(parseConfig(withJournal('b')).settlement.journal).toBe(resolve('b'))
  })

  it('takes the folder of the proving keys from the folder of the file', () => {
    const text = `${minimalConfig()}\n[zerc20]\nartifacts = 'keys'\n`
    expect(parseConfig(text, { directory: '/etc/svc' }).zerc20.artifacts).toBe('/etc/svc/keys')
  })

  it('takes no tip above the whole fee', () => {
    const settlement = 'max_fee_per_gas_gwei = 20\nmax_priority_fee_gwei = 21'
    expect(findingsOf(minimalConfig({ settlement }))).toMatchObject([
      { key: 'settlement.max_priority_fee_gwei', message: expect.stringContaining('which is 20, is 21') },
    ])
    expect(findingsOf(minimalConfig({ settlement: settlement.replace('21', '20') }))).toEqual([])
  })

  it('R-051 only local, said in words, accepts payments', () => {
    expect(profileOf({ profile: 'local' }).acceptsPayments).toBe(true)
    for (const profile of ['testnet', 'production', undefined] as const) {
      expect(profileOf({ profile }).acceptsPayments).toBe(false)
    }
    expect(parseConfig(minimalConfig({}, '')).profile).toBe(undefined)
    expect(problemsOf(minimalConfig({}, 'Local'))).toEqual([
      'profile: must be one of "local", "testnet", "production", is "Local"',
    ])
  })

  it.each([
    ["profile = 'local'\nrelayer_pk = hunter2\n", 2],
    ['a = 1\na = "hunter2"\n', 2],
    ['[t]\nx = 1\n[t]\n', 3],
    ['a = 0xhunter2', 1],
    ['a = "hunter2', 1],
  ])('says where %j is not TOML, without the text itself, which may hold a secret', (text, line) => {
    const [problem] = problemsOf(text)
    expect(problem).toMatch(new RegExp(`^not TOML: .+ at line ${line}, column \\d+$`))
    expect(problem).not.toContain('hunter2')
  })

  it('gives no key a meaning of its own', () => {
    expect(warningsOf(`${minimalConfig()}\n[__proto__]\nadmin = 1\n`)).toEqual([
      '__proto__: unknown key, ignored',
    ])
  })

  it('says what is a value where a table belongs, and a table where a value belongs', () => {
    expect(problemsOf(`daemon = 3\n${minimalConfig().replace('[daemon]', '')}`)).toEqual([
      'daemon: must be a table, is 3',
    ])
    expect(problemsOf(minimalConfig().replace('[listen]', '[listen.port]'))).toEqual([
      expect.stringContaining('listen.port: must be an integer of at least 0 and at most 65535, is a table'),
    ])
  })
})

describe('the fee table', () => {
  const withFee = (lines: string) => `${minimalConfig()}\n[fee]\n${lines}\n`
  const custodial = `bps = 50\nmin_per_payment = '10'\ncharge_to = 'payer'\nrecipient = '${other}'`
  const split = `bps = 1\nmin_per_payment = 0\ncharge_to = 'provider'\nsplitter = '${treasury}'`
  const keysOf = (text: string) => findingsOf(text).map(({ key }) => key)

  it('R-065 R-066 R-067 R-068 R-069 takes both modes', () => {
    expect(parseConfig(withFee(custodial)).fee).toEqual({
      bps: 50,
      min_per_payment: 10n,
      charge_to: 'payer',
      recipient: other,
      splitter: undefined,
      sweep_min: undefined,
      sweep_interval_secs: 86_400,
    })
    expect(parseConfig(withFee(`${custodial}\nsweep_min = 5\nsweep_interval_secs = 60`)).fee).toMatchObject({
      sweep_min: 5n,
      sweep_interval_secs: 60,
    })
    expect(parseConfig(withFee(split)).fee).toMatchObject({ bps: 1, min_per_payment: 0n, splitter: treasury })
    expect(findingsOf(withFee(`${split}\nrecipient = '${other}'`))).toEqual([])
    expect(findingsOf(withFee(custodial.replace('bps = 50', 'bps = 0')))).toEqual([])
  })

  it('R-065 R-066 R-067 R-068 requires everything but the splitter when the table is there', () => {
    expect(keysOf(withFee(''))).toEqual(['fee.bps', 'fee.min_per_payment', 'fee.charge_to', 'fee.recipient'])
  })

  it.each([
    ['R-065', 'bps = 1', 'bps = 0', 'fee.bps: must be at least 1 in split mode, is 0'],
    ['R-065', 'bps = 1', 'bps = -1', 'fee.bps: must be an integer of at least 0 and at most 10000, is -1'],
    ['R-065', 'bps = 1', 'bps = 10001', 'fee.bps: must be an integer of at least 0'],
    ['R-066', 'payment = 0', "payment = '1'", 'fee.min_per_payment: must be 0 in split mode, is 1'],
    ['R-066', 'payment = 0', "payment = '01'", 'fee.min_per_payment: must be an amount in base units'],
    ['R-066', 'payment = 0', 'payment = 1e3', 'fee.min_per_payment: must be an amount in base units'],
    ['R-066', 'payment = 0', 'payment = -1', 'fee.min_per_payment: must be an amount in base units'],
    ['R-067', "'provider'", "'both'", 'fee.charge_to: must be one of "payer", "provider", is "both"'],
    [
      'R-069',
      `splitter = '${treasury}'`,
      `splitter = '${other}'`,
      'fee.splitter: must equal settlement.treasury',
    ],
    ['R-069', `splitter = '${treasury}'`, "splitter = 'x'", 'fee.splitter: must be an address'],
  ])('%s refuses, with %s made %s', (_row, from, to, expected) => {
    const text = withFee(split.replace(from, to))
    const [problem, ...more] = problemsOf(text)
    expect(more).toEqual([])
    expect(problem).toContain(expected)
  })

  it('R-068 R-069 needs a recipient without a splitter', () => {
    expect(keysOf(withFee(custodial.replace(/recipient.*/, '')))).toEqual(['fee.recipient'])
  })

  it('R-069 compares addresses, not spellings', () => {
    const text = withFee(split).replaceAll(treasury, `0x${'ab'.repeat(20)}`)
    expect(findingsOf(text.replace(/splitter.*/, `splitter = '0x${'AB'.repeat(20)}'`))).toEqual([])
  })

  it('R-065 R-066 refuses a fee that no price can bear', () => {
    expect(problemsOf(withFee(custodial.replace('50', '10000')))).toEqual([])
    const whole = withFee(custodial.replace('50', '10000').replace("'payer'", "'provider'"))
    expect(problemsOf(whole)).toEqual([
      expect.stringContaining('fee.bps: must be below 10000 when fee.charge_to is "provider"'),
    ])
    expect(problemsOf(withFee(custodial.replace("'10'", `'${2n ** 248n - 1n}'`)))).toEqual([])
    expect(problemsOf(withFee(custodial.replace("'10'", `'${2n ** 248n}'`)))).toEqual([
      expect.stringContaining('fee.min_per_payment: must be below 2^248'),
    ])
  })

  it('R-068 refuses a recipient that has the fee already', () => {
    expect(problemsOf(withFee(custodial.replace(other, treasury)))).toEqual([
      expect.stringContaining('fee.recipient: is settlement.treasury'),
    ])
  })

  it('R-068 R-069 names who is swept to only where the treasury key sweeps', () => {
    const terms = (lines: string) => feeTermsOf(parseConfig(withFee(lines)))
    expect(terms(custodial)).toEqual({ bps: 50, minPerPayment: 10n, chargeTo: 'payer', recipient: other })
    expect(terms(`${split}\nrecipient = '${other}'`)).toEqual({
      bps: 1,
      minPerPayment: 0n,
      chargeTo: 'provider',
    })
    expect(feeTermsOf(parseConfig(minimalConfig()))).toBeUndefined()
  })
})

describe('batch mode', () => {
  const inBatches = (settlement: string) =>
    problemsOf(`${minimalConfig({ settlement })}\n[finalize]\nmode = 'batch'\n`)

  it('demands a least amount, or small change would surround a payment in its batch', () => {
    const demanded = expect.stringMatching(
      /^settlement\.min_amount: must be above zero where finalize\.mode is "batch"/,
    )
    expect(inBatches('')).toEqual([demanded])
    expect(inBatches("min_amount = '0'")).toEqual([demanded])
    expect(inBatches("min_amount = '1000'")).toEqual([])
  })
})

describe('keys nobody reads', () => {
  it('are warned about with the name that was probably meant', () => {
    const text = `chain_id = 1\n${minimalConfig({ settlement: 'jurnal = 1', daemon: 'colour = 1' })}[demon]\nx = 1\n`
    expect(warningsOf(text)).toEqual([
      'chain_id: unknown key, ignored; did you mean network.chain_id?',
      'settlement.jurnal: unknown key, ignored; did you mean settlement.journal?',
      'daemon.colour: unknown key, ignored',
      'demon: unknown key, ignored; did you mean daemon?',
    ])
    expect(problemsOf(text)).toEqual([])
  })

  it.each([
    "relayer_pk = 'hunter2'",
    "SVC_TREASURY_PK = 'hunter2'",
    "private_key = 'hunter2'",
    "privateKey = 'hunter2'",
    "admin_token = 'hunter2'",
    "mnemonic = 'hunter2'",
    "rpc_api_key = 'hunter2'",
    "harmless = '0xhunter2'".replace('hunter2', '5'.repeat(64)),
    `harmless = 0x${'5'.repeat(64)}`,
  ])('R-080 never read a secret: %s', (line) => {
    const text = minimalConfig({ settlement: line })
    const [problem, ...more] = problemsOf(text)
    expect(more).toEqual([])
    expect(problem).toContain(`settlement.${line.split(' ')[0]}: secrets are never read from the file`)
    expect(problem).not.toMatch(/hunter2|5555/)
  })

  it('R-080 find a secret in an unknown table, too, and take an address for none', () => {
    expect(problemsOf(`${minimalConfig()}[keys.relayer]\nprivate_key = 'x'\n`)).toEqual([
      expect.stringContaining('keys.relayer.private_key: secrets are never read'),
    ])
    expect(warningsOf(`token = '${treasury}'\n${minimalConfig()}`)).toEqual([
      'token: unknown key, ignored; did you mean network.token?',
    ])
  })
})

describe('error messages', () => {
  it('R-080 show no credentials of a URL and no private key at the wrong place', () => {
    const text = minimalConfig()
      .replace("'http://127.0.0.1:8545'", "'ftp://user:hunter2@host/'")
      .replace(/^hub = .*$/m, `hub = '0x${'5'.repeat(64)}'`)
      .replace('chain_id = 31337', `chain_id = 0x${'5'.repeat(64)}`)
    const problems = problemsOf(text)
    expect(problems).toHaveLength(3)
    expect(problems.join()).not.toMatch(/hunter2|5555|386012/)
  })

  it('stay on one line and short', () => {
    const text = minimalConfig().replace("profile = 'local'", `profile = """a\nb${'c'.repeat(500)}"""`)
    const [problem = ''] = problemsOf(text)
    expect(problem).not.toContain('\n')
    expect(problem.length).toBeLessThan(250)
  })
})

describe('readConfigFile', () => {
  const files = temporaryFiles()

  it('R-050 reads one file, and says when it cannot', () => {
    const missing = join(files.path, 'missing.toml')
    expect(readConfigFile(missing).findings).toEqual([
      { level: 'fail', key: missing, message: 'cannot be read (ENOENT)' },
    ])
    const broken = files.write('broken.toml', 'x = 1\ny = [')
    expect(readConfigFile(broken).findings).toMatchObject([
      { level: 'fail', key: broken, message: expect.stringMatching(/^is not TOML: /) },
    ])
    const file = files.write('facilitator.toml', minimalConfig().replace("'none'", "'journal.jsonl'"))
    expect(readConfigFile(file).config?.settlement.journal).toBe(join(file, '../journal.jsonl'))
  })
})

describe('the table of keys', () => {
  const sample = readFileSync(new URL('../../facilitator.sample.toml', import.meta.url), 'utf8')

  it('R-050 makes a sample file that is good as it is, and with every line taken out of its comment', () => {
    expect(findingsOf(sample)).toEqual([])
    const whole = sample.replace(/^# (\[fee\]|\[\[sellers\]\]|\w+ = )/gm, '$1')
    expect(findingsOf(whole)).toEqual([])
    const valueIn = (config: object, path: string) =>
      path
        .split('.')
        .reduce<unknown>(
          (at, name) => ([at].flat()[0] as Record<string, unknown> | undefined)?.[name],
          config,
        )
    const [asItIs, uncommented] = [parseConfig(sample), parseConfig(whole)]
    for (const { path, presence } of configTables.flatMap(({ keys }) => keys)) {
      // Optional keys are commented out in the sample; the line shows how to write them.
      if (presence === 'optional') expect(valueIn(uncommented, path), path).toBeDefined()
      else if (!/^(?:fee|sellers)\./.test(path))
        expect(valueIn(asItIs, path), path).toEqual(valueIn(uncommented, path))
    }
    expect([uncommented.fee?.bps, asItIs.fee]).toEqual([50, undefined])
    expect([uncommented.sellers.length, asItIs.sellers]).toEqual([1, []])
  })

  it('describes every key, and every default is one of its own allowed values', () => {
    for (const { path, presence, type, about, ...key } of configTables.flatMap(({ keys }) => keys)) {
      expect(about, path).toMatch(/^\S.*[.]$/)
      if (presence !== 'default') continue
      const asRead = typeof key.default === 'number' ? BigInt(key.default) : key.default
      expect(type.parse(asRead), path).toBe(key.default)
    }
  })
})
