import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentRoles, type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { parse, stringify } from 'smol-toml'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { historyEnvironment, issuerEnvironment } from '../../../test/support/history-environment.js'
import { until } from '../../../test/support/until.js'
import { runCommand } from '../test/command.js'
import { linesOf, withDaemon } from '../test/daemon.js'
import { temporaryFiles } from '../test/files.js'
import { issuerOf } from '../test/issuer.js'
import { runHere } from '../test/run-here.js'
import { parseConfig } from './config/config.js'
import { environmentVariables, historyVariables, keysOfOtherPrograms } from './config/secrets/environment.js'

const { treasury, relayer } = developmentRoles
const keys = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }
const files = temporaryFiles()

let net: LocalNetwork
beforeAll(async () => {
  // Only its chain and its configuration file are used; the daemons of these tests are their own.
  net = await startLocalNetwork({ inProcess: {}, powBits: 1 })
})
// Outside of the local profile a check refuses a chain that stands, and nothing else is mined here for minutes.
beforeEach(() => net.chain?.mine())
afterAll(() => net.close())

type Tables = Record<string, Record<string, unknown> | string | undefined>

/** The devnet's configuration with changes, as a file. The devnet's own daemon has the journal, so: none. */
function configFile(changes: Tables = {}): string {
  const tables = parse(readFileSync(net.configFile, 'utf8')) as Tables
  tables.settlement = { ...Object(tables.settlement), journal: 'none' }
  for (const [name, change] of Object.entries(changes)) {
    const base = tables[name]
    tables[name] = typeof change === 'object' && typeof base === 'object' ? { ...base, ...change } : change
  }
  return files.write('facilitator.toml', stringify(JSON.parse(JSON.stringify(tables))))
}

/** Why the daemon did not start, as its log says. */
const failuresIn = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line.includes('facilitator.failed'))
    .map((line) => JSON.parse(line) as { level: number; event: string; key: string })
    .map(({ level, event, key }) => ({ level, event, key }))

describe('svc-facilitator start', () => {
  it('R-076 runs the daemon after the same checks, warns about what they found, and ends with 0', async () => {
    const { code, stderr } = await withDaemon(configFile(), keys, async (url, log) => {
      const response = await fetch(`${url}/supported`)
      expect(await response.json()).toMatchObject({
        kinds: [{ scheme: 'svc-zerc20', network: 'eip155:31337' }],
      })
      const warnings = log
        .filter(({ event }) => event === 'facilitator.warning')
        .map(({ message }) => message)
      expect(warnings).toEqual([
        'SVC_TREASURY_PK: a well-known development key; anybody can use it',
        'SVC_RELAYER_PK: a well-known development key; anybody can use it',
        expect.stringContaining('network.indexer_url: '),
        expect.stringContaining('settlement.journal: is "none": pending work is lost on restart'),
        'zerc20.artifacts: not set, and no folder with the keys of the verifier was found: payments are accepted, but none is finalized',
      ])
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('R-060 R-061 R-063 offers the gasless path only with a helper, for as long as the file says', async () => {
    const challengeOf = async (settlement: Record<string, unknown>) => {
      let offer: { helper?: string; expiresAt?: number } = {}
      await withDaemon(configFile({ settlement }), keys, async (url) => {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ amount: '1' })
        await until(async () => (await fetch(`${url}/ready`)).ok)
        offer = await (await fetch(`${url}/challenge`, { method: 'POST', headers, body })).json()
      })
      return offer
    }
    const before = Date.now() / 1000
    const withHelper = await challengeOf({ challenge_ttl_seconds: 5000 })
    expect(withHelper.helper?.toLowerCase()).toBe(net.deployment.permitBurner.toLowerCase())
    const lifetime = (withHelper.expiresAt ?? 0) - before
    expect(lifetime).toBeGreaterThanOrEqual(4999)
    expect(lifetime).toBeLessThan(5600)
    expect(await challengeOf({ permit_burner: undefined })).not.toHaveProperty('helper')
  })

  it('R-055 R-056 R-075 exits 1 for a mistake, with the same lines as check', async () => {
    const file = configFile({ network: { hub: `0x${'7'.repeat(40)}` }, daemon: { max_open_challenges: 0 } })
    const [started, checked] = await Promise.all([
      runCommand(['start', '--config', file], keys),
      runHere(['check', '--config', file], keys),
    ])
    const failed = checked.stdout.split('\n').filter((line) => line.startsWith('fail '))
    expect(failed).toHaveLength(2)
    expect(started).toMatchObject({ code: 1, stderr: `${failed.join('\n')}\n` })
    // A collector of the log sees no standard error.
    const keysOf = failed.map((line) => /^fail ([\w.]+):/.exec(line)?.[1])
    expect(keysOf.toSorted()).toEqual(['daemon.max_open_challenges', 'network.hub'])
    expect(failuresIn(started.stdout)).toEqual(
      keysOf.map((key) => ({ level: 50, event: 'facilitator.failed', key })),
    )
    expect(checked.code).toBe(1)
  })

  it('exits 75 when the RPC is down', async () => {
    const file = configFile({ network: { rpc_url: 'http://127.0.0.1:1' } })
    const { code, stderr } = await runHere(['start', '--config', file], keys)
    expect(code).toBe(75)
    expect(stderr).toMatch(/^fail network\.rpc_url: the RPC at 127\.0\.0\.1:1 did not answer\n$/)
  })

  it('R-080 has no secret of any table left in its environment, as a diagnostic report of it shows', async () => {
    // The issuer's group would need its files.
    const history = historyVariables.filter(({ group }) => group !== 'issuer')
    // The password of the database is given once: here, and not by its file.
    const own = environmentVariables.filter(({ name }) => name !== 'SVC_STORAGE_PASSWORD_FILE')
    const variables = [...own, ...history].map(({ name }) => name)
    const names: readonly string[] = [...variables, ...keysOfOtherPrograms]
    const others = {
      ...Object.fromEntries(names.map((name) => [name, `value-of-${name}-is-not-short`])),
      PAYMENT_HISTORY_PATH: join(files.folder(), 'history.jsonl'),
      HISTORY_PAYER_ADDRESS: privateKeyToAddress(generatePrivateKey()),
      HISTORY_PROVIDER_ADDRESS: privateKeyToAddress(generatePrivateKey()),
    }
    const folder = mkdtempSync(join(files.path, 'report-'))
    const options = `--report-on-signal --report-signal=SIGUSR2 --report-directory=${folder}`
    const env = { ...others, ...keys, SVC_MINTER_PK: generatePrivateKey(), NODE_OPTIONS: options }
    await withDaemon(configFile(), env, async (_url, _log, pid) => {
      process.kill(pid, 'SIGUSR2')
      const report = await until(() => {
        const [name] = readdirSync(folder)
        const text = name === undefined ? '' : readFileSync(join(folder, name), 'utf8')
        // It is written bit by bit: whole once its last brace is there.
        return text.trimEnd().endsWith('\n}') ? text : undefined
      })
      const variables = Object.keys(JSON.parse(report).environmentVariables)
      expect(variables).toContain('NODE_OPTIONS')
      expect(variables.filter((name) => names.includes(name))).toEqual([])
      for (const name of names) expect(report).not.toContain(env[name as keyof typeof env])
    })
  })

  it('R-071 is ended by force after the grace when the disk hangs', async () => {
    const folder = files.folder()
    const [pipe, isHanging] = [join(folder, 'pipe'), join(folder, 'hangs')]
    // Opening a pipe that nobody reads hangs, like a thread whose disk does not answer.
    execFileSync('mkfifo', [pipe])
    const disk = files.write(
      'hanging-disk.mjs',
      `import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      import threads from 'node:worker_threads'
      const { fdatasyncSync, existsSync, openSync } = fs
      fs.fdatasyncSync = (file) =>
        existsSync(${JSON.stringify(isHanging)}) ? openSync(${JSON.stringify(pipe)}, 'w') : fdatasyncSync(file)
      // The threads of the daemon have this disk, too.
      const { Worker } = threads
      threads.Worker = class extends Worker {
        constructor(file, options) {
          super(file, { ...options, execArgv: ['--import', import.meta.url] })
        }
      }
      syncBuiltinESMExports()`,
    )
    const journal = join(folder, 'journal.jsonl')
    const file = configFile({ settlement: { journal }, daemon: { shutdown_grace_ms: 500 } })
    const env = { ...keys, NODE_OPTIONS: `--import ${disk}` }
    const { how, stdout } = await withDaemon(file, env, async (url) => {
      await until(async () => (await fetch(`${url}/ready`)).status === 200)
      writeFileSync(isHanging, '')
      void fetch(`${url}/challenge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"amount":"1"}',
      }).catch(() => undefined)
      // The record of the challenge is in the file, and its sync hangs.
      await until(() => readFileSync(journal, 'utf8').includes('challenge_issued'))
    })
    // Killed: a process that ends in any other way waits for its threads.
    expect(how).toBe('SIGKILL')
    expect(linesOf(stdout).map(({ event }) => event)).toContain('facilitator.forced')
  })

  it('exits 75 when its port is taken', async () => {
    const port = Number(new URL(net.facilitatorUrl).port)
    const file = configFile({ listen: { port } })
    const { code, stdout, stderr } = await runHere(['start', '--config', file], keys)
    expect(code).toBe(75)
    expect(stderr).toMatch(/^fail listen.port: \d+ at 127.0.0.1 is in use/)
    expect(failuresIn(stdout)).toEqual([{ level: 50, event: 'facilitator.failed', key: 'listen.port' }])
  })

  it('R-062 exits 75 while another daemon has its journal, and keeps one of its own', async () => {
    const journal = files.write('journal.jsonl', '')
    const file = configFile({ settlement: { journal } })
    const { code } = await withDaemon(file, keys, async () => {
      const second = await runHere(['start', '--config', file], keys)
      expect(second.code).toBe(75)
      expect(second.stderr).toContain(`fail settlement.journal: ${journal} is in use by another daemon`)
    })
    expect(code).toBe(0)
  })

  it('R-081 R-082 R-083 aborts without keys or token', async () => {
    const { code, stderr } = await runHere(['start', '--config', configFile({ profile: undefined })])
    expect(code).toBe(1)
    expect(stderr.split('\n').map((line) => line.split(':')[0])).toEqual([
      'fail SVC_TREASURY_PK',
      'fail SVC_RELAYER_PK',
      'fail SVC_ADMIN_TOKEN',
      '',
    ])
  })

  it('R-084 aborts with a well-known key when one condition is missing', async () => {
    const file = configFile({ listen: { host: '0.0.0.0' } })
    const env = { ...keys, SVC_ADMIN_TOKEN: 'a-token-that-is-long-enough' }
    const { code, stderr } = await runHere(['start', '--config', file], env)
    expect(code).toBe(1)
    expect(stderr.trim().split('\n')).toEqual([
      'fail SVC_TREASURY_PK: a well-known development key, which needs a loopback listen.host',
      'fail SVC_RELAYER_PK: a well-known development key, which needs a loopback listen.host',
    ])
  })

  it('R-086 aborts with half a statement issuer, and names each piece that is missing', async () => {
    const env = {
      ...keys,
      HISTORY_ISSUER_MANIFEST_PATH: files.write('manifest', ''),
      HISTORY_ISSUER_TRUST_ANCHOR_PATH: files.write('anchor', ''),
    }
    const { code, stderr } = await runHere(['start', '--config', configFile()], env)
    expect(code).toBe(1)
    const needs = 'not set, but a statement issuer needs its whole group; set it, or unset all of the group'
    expect(stderr.trim().split('\n')).toEqual([
      `fail HISTORY_ISSUER_PRIVATE_KEY_PATH: ${needs}`,
      `fail HISTORY_ARTIFACT_PATH: ${needs}`,
    ])
  })

  it('R-086 aborts with a statement issuer whose key, manifest and trust anchor do not belong together', async () => {
    const now = Math.floor(Date.now() / 1000)
    const [issuer, other] = [await issuerOf(now), await issuerOf(now)]
    const env = {
      ...keys,
      ...historyEnvironment(join(files.folder(), 'history.jsonl')),
      ...issuerEnvironment({ ...issuer.files, key: other.files.key }, files.folder()),
    }
    const { code, stderr } = await runHere(['start', '--config', configFile()], env)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: the manifest does not have this key.*\n$/,
      ),
    })
  })

  it('R-051 R-083 starts gated without a profile, with a token and keys of its own', async () => {
    const env = {
      SVC_TREASURY_PK: generatePrivateKey(),
      SVC_RELAYER_PK: generatePrivateKey(),
      SVC_ADMIN_TOKEN: 'a-token-that-is-long-enough',
    }
    const { code, stdout } = await withDaemon(configFile({ profile: undefined }), env, async (url) => {
      const response = await fetch(`${url}/challenge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ amount: '1' }),
      })
      expect(response.status).toBe(403)
    })
    expect(code).toBe(0)
    const [ready] = linesOf(stdout).filter(({ event }) => event === 'facilitator.listening')
    expect(ready?.profile).toBe('unset')
    // The relayer has no money, and the daemon serves nevertheless.
    expect(stdout).toContain('has no money for gas')
  })

  it('R-080 writes no secret anywhere', async () => {
    const env = {
      SVC_TREASURY_PK: generatePrivateKey(),
      SVC_RELAYER_PK: generatePrivateKey(),
      SVC_ADMIN_TOKEN: 'a-token-that-is-long-enough',
    }
    const rpc = net.rpcUrl.replace('http://', 'http://user:hunter2@')
    const file = configFile({ network: { rpc_url: rpc } })
    const { stdout, stderr } = await withDaemon(file, env, async () => undefined)
    const printed = stdout + stderr + (await runHere(['check', '--config', file], env)).stdout
    for (const secret of [...Object.values(env), 'hunter2']) {
      expect(printed).not.toContain(secret.replace(/^0x/, ''))
    }
    expect(readdirSync(join(file, '..'))).toEqual(['facilitator.toml'])
  })
})

describe('svc-facilitator config', () => {
  const config = (args: string[], env: Record<string, string> = {}) => runHere(['config', ...args], env)

  it('prints what the daemon would use: valid TOML with every default', async () => {
    const file = configFile({ settlement: { journal: 'j.jsonl' } })
    const { code, stdout, stderr } = await config(['--config', file], keys)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(parseConfig(stdout)).toEqual(
      parseConfig(readFileSync(file, 'utf8'), { directory: join(file, '..') }),
    )
    expect(stdout).toContain('challenge_ttl_seconds = 300 # default\n')
    expect(stdout).toContain('# SVC_RELAYER_PK: set\n# SVC_MINTER_PK: not set\n# SVC_ADMIN_TOKEN: not set\n')
  })

  it('R-080 masks what is secret', async () => {
    const file = configFile({
      network: { rpc_url: 'https://user:hunter2@rpc.example/', decider_url: 'http://d/?key=hunter2' },
    })
    const { stdout } = await config(['--config', file], keys)
    expect(stdout).not.toContain('hunter2')
    expect(stdout).not.toContain(treasury.privateKey.slice(2))
    expect(stdout).toContain('rpc_url = "https://[secret]@rpc.example/"')
    expect(stdout).toContain('# SVC_TREASURY_PK: set\n')
  })

  it('says what is wrong instead, and exits 1', async () => {
    const { code, stdout, stderr } = await config(['--config', configFile({ profile: 'lokal' })])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('fail profile: must be one of "local", "testnet", "production", is "lokal"')
    const missing = await config(['--config', '/no/such/file'])
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'fail /no/such/file: cannot be read (ENOENT)\n',
    })
  })
})

describe('svc-facilitator', () => {
  it('helps, with examples, environment and exit codes', async () => {
    for (const args of [['--help'], ['check', '--help'], ['start', '--help'], ['recover', '--help']]) {
      const { code, stdout } = await runHere(args)
      expect(code).toBe(0)
      for (const part of ['Examples:', 'SVC_TREASURY_PK', 'Exit codes:', '75 '])
        expect(stdout).toContain(part)
    }
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(await runCommand(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([
    [[]],
    [['begin']],
    [['check']],
    [['start', '--config']],
    [['check', '--config', 'x', '--verbose']],
    [['recover', '--config', 'x', '--nonce', '0x12']],
  ])('exits 1 with usage for %j', async (args) => {
    const { code, stdout, stderr } = await runHere(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/Usage|--help/)
  })
})
