import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { lightArtifacts } from '../../../test/support/light-artifacts.js'

const script = fileURLToPath(new URL('../bin/svc-indexer.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-indexer-'))
const address = `0x${'11'.repeat(20)}`
const key = `0x${'ab'.repeat(32)}`

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

// Nobody listens on port 1.
const flags = ['--rpc-url', 'http://user:secret@127.0.0.1:1', '--chain-id', '31337', '--folder', folder]
const contracts = ['--token', address, '--verifier', address]

test('help names every option, the key and the exit codes', () => {
  const { status, stdout } = run(['--help'])
  expect(status).toBe(0)
  for (const word of [
    '--rpc-url',
    '--from-block',
    '--artifacts',
    '--max-fee-gwei',
    '--max-tip-gwei',
    'SVC_INDEXER_PK',
    'Exit codes',
    '127.0.0.1:8080',
  ]) {
    expect(stdout).toContain(word)
  }
})

test.each([
  ['a missing option', [...flags], {}, '--token'],
  ['a number that is none', [...flags, ...contracts, '--from-block', 'x'], {}, '--from-block'],
  [
    'an address that is none',
    [...flags, '--token', '0x12', '--verifier', address],
    {},
    'token: 0x12 is no address',
  ],
  ['a key without artifacts', [...flags, ...contracts], { SVC_INDEXER_PK: key }, '--artifacts'],
  ['and one without 0x', [...flags, ...contracts], { SVC_INDEXER_PK: key.slice(2) }, '--artifacts'],
  ['artifacts without a key', [...flags, ...contracts, '--artifacts', folder], {}, 'SVC_INDEXER_PK'],
  ['a fee ceiling of nothing', [...flags, ...contracts, '--max-fee-gwei', '0'], {}, '--max-fee-gwei'],
  ['a tip above the fee', [...flags, ...contracts, '--max-fee-gwei', '99'], {}, '--max-tip-gwei: 100'],
  ['a malformed key', [...flags, ...contracts], { SVC_INDEXER_PK: key.slice(0, -1) }, 'SVC_INDEXER_PK'],
])('%s is a mistake: exit code 1', (_what, args, env, named) => {
  const { status, stderr } = run(args, env)
  expect(status).toBe(1)
  expect(stderr).toContain(named)
  expect(stderr).not.toContain('abab')
})

test('development keys prove no root on a chain that is not local: exit code 1', async () => {
  const proving = [...contracts, '--artifacts', await lightArtifacts()]
  const elsewhere = flags.map((flag) => (flag === '31337' ? '8453' : flag))
  const refused = run([...elsewhere, ...proving], { SVC_INDEXER_PK: key })
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('--artifacts: keys of a development setup, which need chain 31337')
  expect(run([...flags, ...proving], { SVC_INDEXER_PK: key }).status).toBe(75)
})

test('a node that is down is worth another try: exit code 75, and its credentials are not shown', () => {
  const { status, stderr } = run([...flags, ...contracts])
  expect(status).toBe(75)
  expect(stderr).toContain('the RPC at 127.0.0.1:1 did not answer')
  expect(stderr).not.toContain('secret')
})

test('options come from the environment too', () => {
  const env = { SVC_INDEXER_TOKEN: address, SVC_INDEXER_VERIFIER: '0x12' }
  expect(run(flags, env).stderr).toContain('verifier: 0x12 is no address')
})
