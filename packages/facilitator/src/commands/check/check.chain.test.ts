import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { tokenAbi, tokenBytecode, verifierAbi } from '@svc-zerc20/contracts'
import {
  type Chain,
  type Deployment,
  deployContracts,
  developmentRoles,
  minedReceipt,
  startChain,
} from '@svc-zerc20/devnet'
import { parseAddress } from '@svc-zerc20/protocol'
import { stringify } from 'smol-toml'
import { createPublicClient, createWalletClient, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../../test/command.js'
import { temporaryFiles } from '../../../test/files.js'
import { runHere } from '../../../test/run-here.js'
import { readConfig } from '../../config/config.js'
import { format, isFailure } from '../../config/finding.js'
import { check } from './check.js'

type Tables = Record<string, Record<string, unknown> | string | undefined>

const { deployer, payer, treasury, relayer, provider } = developmentRoles
const keys = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }
const elsewhere = `0x${'77'.repeat(20)}`

const files = temporaryFiles()
let chain: Chain
let deployment: Deployment
let indexer: Server
let requests: string[] = []

beforeAll(async () => {
  chain = await startChain()
  deployment = await deployContracts({
    rpcUrl: chain.rpcUrl,
    deployer,
    payer: payer.address,
    fund: [relayer.address],
  })
  indexer = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? ''}`.trim())
    response.writeHead(request.url?.startsWith('/indexer/healthz') ? 200 : 404).end()
  })
  await new Promise<void>((resolve) => indexer.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  indexer.close()
  await chain.close()
})

const indexerUrl = () => `http://127.0.0.1:${(indexer.address() as AddressInfo).port}/indexer`

/** Writes a good configuration with some changes. `undefined` removes a key. */
function writeConfig(changes: Tables = {}): string {
  const { chainId, token, verifier, hub, permitBurner } = deployment
  const base: Record<string, Record<string, unknown>> = {
    network: {
      rpc_url: chain.rpcUrl,
      indexer_url: indexerUrl(),
      decider_url: 'http://127.0.0.1:9/decider',
      chain_id: chainId,
      token,
      verifier,
      hub,
    },
    settlement: { treasury: provider.address, permit_burner: permitBurner, journal: 'journal.jsonl' },
    listen: { port: 0 },
    zerc20: { pow_bits: 8 },
  }
  const text: Record<string, unknown> = { profile: 'local', ...base }
  for (const [table, change] of Object.entries(changes)) {
    text[table] = typeof change === 'object' ? { ...base[table], ...change } : change
  }
  return files.write('facilitator.toml', stringify(JSON.parse(JSON.stringify(text))))
}

async function findingsOf(changes: Tables = {}, env: Record<string, string> = keys) {
  const clock = { now: () => Date.now() }
  const { findings } = await check({ file: writeConfig(changes), env, clock })
  return findings
}

/** Warnings and failures, without the warnings that development keys and missing proving keys always cause. */
async function complaintsOf(changes: Tables = {}, env?: Record<string, string>) {
  const findings = await findingsOf(changes, env)
  return findings
    .filter(({ level, message }) => level !== 'ok' && !/development key|none is finalized/.test(message))
    .map(format)
}

describe('check', () => {
  it('says nothing of keys or chain when there is no file, or no TOML in it', async () => {
    for (const file of [join(files.path, 'missing.toml'), files.write('broken.toml', 'x = [')]) {
      const { findings } = await check({ file, env: keys, clock: { now: () => Date.now() } })
      expect(findings).toMatchObject([{ level: 'fail', key: file }])
    }
  })

  it('R-075 finds nothing wrong with a good configuration, in one round trip', async () => {
    requests = []
    const before = chain.stats().httpRequests
    const findings = await findingsOf()
    expect(chain.stats().httpRequests - before).toBe(1)
    expect(findings.filter(isFailure)).toEqual([])
    const good = findings.filter(({ level }) => level === 'ok').map(({ key }) => key)
    expect(good.slice(1).sort()).toEqual(
      [
        'SVC_RELAYER_PK',
        'network.decider_url',
        'network.hub',
        'network.indexer_url',
        'network.rpc_url',
        'network.token',
        'network.verifier',
        'settlement.journal',
        'settlement.min_amount',
        'settlement.permit_burner',
        'settlement.treasury',
      ].sort(),
    )
    expect(requests).toEqual(['/indexer/healthz'])
  })

  it('refuses the placeholders of the sample', async () => {
    const file = files.write(
      'sample.toml',
      readFileSync(new URL('../../../facilitator.sample.toml', import.meta.url), 'utf8'),
    )
    const { findings } = await check({ file, env: keys, clock: { now: () => Date.now() } })
    const placeholders = findings.filter(({ message }) => message.includes('placeholder'))
    expect(placeholders.map(({ level, key }) => `${level} ${key}`)).toEqual([
      'fail network.token',
      'fail network.verifier',
      'fail network.hub',
      'fail settlement.treasury',
      'fail settlement.permit_burner',
    ])
  })

  it('warns of challenges that live longer than payers sign for', async () => {
    const told = (seconds: number) => complaintsOf({ settlement: { challenge_ttl_seconds: seconds } })
    expect(await told(86_280)).toEqual([])
    expect(await told(86_281)).toEqual([
      'warn settlement.challenge_ttl_seconds: is 86281: payers sign for no offer that lives longer than 86280 s, so nobody could pay without gas',
    ])
  })

  it('says how long the addresses take on this machine, and warns when that is long', async () => {
    const told = async (bits: number) => {
      const file = writeConfig({ zerc20: { pow_bits: bits } })
      const clock = { now: () => Date.now() }
      const { findings } = await check({ file, env: keys, clock, command: 'check' })
      return findings.find(({ key }) => key === 'zerc20.pow_bits')
    }
    expect(await told(8)).toMatchObject({
      level: 'ok',
      message: expect.stringMatching(/^is 8: an address takes about \d+ m?s .* a pool of 256 is full after/),
    })
    expect(await told(30)).toMatchObject({ level: 'warn' })
  })

  it.each(['token', 'verifier', 'hub'])('R-056 finds that there is no code at network.%s', async (name) => {
    const complaints = await complaintsOf({ network: { [name]: elsewhere } })
    expect(complaints).toContain(`fail network.${name}: no contract at ${elsewhere}`)
  })

  it('says where payments are minted to', async () => {
    const told = async (settlement: Record<string, unknown>) =>
      (await findingsOf({ settlement })).find(({ key }) => key === 'settlement.treasury')?.message
    const { address } = provider
    expect(await told({ treasury: address.toLowerCase() })).toBe(
      `payments are minted to ${address}, an account`,
    )
    const { permitBurner } = deployment
    expect(await told({ treasury: permitBurner, permit_burner: undefined })).toMatch(/, a contract$/)
  })

  it.each(['token', 'verifier', 'hub'] as const)('refuses network.%s as treasury', async (name) => {
    expect(await complaintsOf({ settlement: { treasury: deployment[name] } })).toContain(
      `fail settlement.treasury: is network.${name}: what is paid to that contract is lost`,
    )
  })

  it('refuses a treasury with a mistyped digit', async () => {
    const mistyped = provider.address.replace('0x3', '0x4')
    expect(await complaintsOf({ settlement: { treasury: mistyped } })).toEqual([
      expect.stringMatching(
        /^fail settlement.treasury: 0x4\w+ has capitals that are not those of its checksum/,
      ),
    ])
  })

  it('asks for quotes around an address without them, and shows no key', async () => {
    const file = writeConfig()
    const unquoted = (value: string) =>
      readFileSync(file, 'utf8').replace(/treasury = .*/, `treasury = ${value}`)
    const told = (value: string) =>
      readConfig(unquoted(value)).findings.find(({ key }) => key === 'settlement.treasury')?.message
    expect(told(provider.address)).toBe('is a number; an address stands in quotes')
    expect(told(provider.privateKey)).toMatch(/looks like a private key and is not shown/)
  })

  it('finds that the port is in use, and that the host is not of this machine', async () => {
    const { port } = indexer.address() as AddressInfo
    expect(await complaintsOf({ listen: { port } })).toEqual([
      `fail listen.port: ${port} at 127.0.0.1 is in use by another process, perhaps by a daemon that runs`,
    ])
    expect(await complaintsOf({ listen: { host: '192.0.2.1', port } })).toContain(
      `fail listen.host: cannot listen at 192.0.2.1 port ${port} (EADDRNOTAVAIL)`,
    )
  })

  it('R-061 finds that there is no code at settlement.permit_burner', async () => {
    expect(await complaintsOf({ settlement: { permit_burner: elsewhere } })).toEqual([
      `fail settlement.permit_burner: no contract at ${elsewhere}`,
    ])
  })

  it('R-069 finds that there is no code at fee.splitter', async () => {
    const fee = { bps: 1, min_per_payment: '0', charge_to: 'payer', splitter: elsewhere }
    expect(await complaintsOf({ settlement: { treasury: elsewhere }, fee })).toEqual([
      `fail fee.splitter: no contract at ${elsewhere}`,
    ])
  })

  it('R-068 R-081 finds a treasury that is not the address of the key that sends the fee on', async () => {
    const fee = { bps: 1, min_per_payment: '0', charge_to: 'payer', recipient: payer.address }
    expect(await complaintsOf({ fee })).toEqual([])
    expect(await complaintsOf({ fee, settlement: { treasury: elsewhere } })).toEqual([
      `fail settlement.treasury: is ${elsewhere}, but SVC_TREASURY_PK, which sends the fee on, is the key of ` +
        treasury.address.toLowerCase(),
    ])
  })

  it('R-056 finds contracts that are something else, or belong to another', async () => {
    const { token, verifier, hub, permitBurner } = deployment
    const lower = (address: string) => address.toLowerCase()
    expect(
      await complaintsOf({
        network: { token: hub, verifier: permitBurner },
        settlement: { permit_burner: token },
      }),
    ).toEqual([
      `fail network.token: ${lower(hub)} is no zERC20 token: it does not answer hashChain() and index()`,
      `fail network.verifier: ${lower(permitBurner)} is no zERC20 verifier: it does not answer token() and provedTransferRoots()`,
      'warn zerc20.pow_bits: is 8, where deployments ask for 16; no contract tells it',
      `warn network.hub: ${lower(hub)} does not know the token and verifier`,
      `fail settlement.permit_burner: ${lower(token)} signs as name "Devnet zUSD", version "1", chain 31337; that is no SvcPermitBurner`,
      'warn network.verifier: the code of token, verifier is not that of this version: what else can mint there was not compared',
    ])
    const second = await deploySecondToken()
    expect(await complaintsOf({ network: { token: second } })).toEqual([
      `fail network.verifier: token and verifier are no pair: the token lets only ${`0x${'0'.repeat(40)}`} mint, and ${lower(verifier)} belongs to the token ${lower(token)}`,
      `warn network.hub: ${lower(hub)} does not know the token and verifier`,
    ])
  })

  it('finds a token whose permits are signed for another name than it tells', async () => {
    const token = await deploySecondToken()
    // Storage slot 3 of an OpenZeppelin token holds its name: the text, then twice its length.
    const renamed = `0x${Buffer.from('Third').toString('hex').padEnd(62, '0')}0a`
    await chain.request('hardhat_setStorageAt', [token, '0x3', renamed])
    const domain = `name "Third", version "1", chain 31337, ${token}`
    const told = 'name "Second", version "1", chain 31337'
    const complaint = `network.token: its EIP-712 domain is not ${domain}; it tells ${told}`
    expect(await complaintsOf({ network: { token } })).toContain(`fail ${complaint}`)
    const withoutHelper = { network: { token }, settlement: { permit_burner: undefined } }
    expect(await complaintsOf(withoutHelper)).toContain(`warn ${complaint}`)
  })

  it('R-061 takes a token without permits where no permit burner is set, and says so', async () => {
    const { token, permitBurner } = deployment
    const code = String(await chain.request('eth_getCode', [token, 'latest']))
    // The selectors of nonces() and DOMAIN_SEPARATOR(), as its dispatcher compares them.
    const without = code.replace('637ecebe00', '63ffffffff').replace('633644e515', '63fffffffe')
    const told = async (permit_burner?: string) =>
      (await findingsOf({ settlement: { permit_burner } })).find(({ key }) => key === 'network.token')
    await chain.request('hardhat_setCode', [token, without])
    try {
      expect(await told(permitBurner)).toMatchObject({
        level: 'fail',
        message: expect.stringMatching(/ has no permits, which settlement.permit_burner needs/),
      })
      expect(await told()).toMatchObject({
        level: 'ok',
        message: expect.stringMatching(/, no permits: payers burn by themselves/),
      })
    } finally {
      await chain.request('hardhat_setCode', [token, code])
    }
  })

  it('R-056 finds that an account which delegated its code is no contract', async () => {
    const account = `0x${'78'.repeat(20)}`
    await chain.request('hardhat_setCode', [account, `0xef0100${deployment.hub.slice(2)}`])
    expect(await complaintsOf({ network: { hub: account } })).toEqual([
      `fail network.hub: no contract at ${account}`,
    ])
  })

  it('warns about a verifier that is paused', async () => {
    const { wallet, mined } = asDeployer()
    const verifier = { address: deployment.verifier, abi: verifierAbi, chain: null } as const
    await mined(wallet.writeContract({ ...verifier, functionName: 'activateEmergency' }))
    try {
      expect(await complaintsOf()).toEqual([
        `warn network.verifier: ${deployment.verifier.toLowerCase()} is paused: nothing can be minted until it is resumed`,
      ])
    } finally {
      await mined(wallet.writeContract({ ...verifier, functionName: 'deactivateEmergency' }))
    }
  })

  it('R-055 finds another chain behind the RPC, and does not judge what stands there', async () => {
    expect(await complaintsOf({ network: { chain_id: 5, token: elsewhere } }, randomKeys())).toEqual([
      'fail network.chain_id: is 5, but the RPC reports 31337; the contracts were not checked',
    ])
  })

  it('R-052 finds an RPC that is down, and what else is wrong in the same run', async () => {
    const findings = await findingsOf({
      network: { rpc_url: 'http://user:hunter2@127.0.0.1:1/', indexer_url: 'http://127.0.0.1:1/indexer' },
      settlement: { journal: 'no/such/folder/journal.jsonl', challenge_ttl_seconds: 0 },
    })
    const keysOf = (level: string) =>
      findings.filter((finding) => finding.level === level).map(({ key }) => key)
    expect(keysOf('fail')).toEqual([
      'settlement.challenge_ttl_seconds',
      'network.rpc_url',
      'settlement.journal',
    ])
    expect(keysOf('warn')).toEqual([
      'network.rpc_url',
      'SVC_TREASURY_PK',
      'SVC_RELAYER_PK',
      'network.indexer_url',
      'zerc20.artifacts',
    ])
    expect(JSON.stringify(findings)).not.toContain('hunter2')
  })

  it('R-052 goes on with the contracts when the node refuses one question', async () => {
    await chain.request('dev_setFaults', [
      [{ method: 'eth_gasPrice', kind: 'error', code: -32601, message: 'no such method' }],
    ])
    try {
      expect(await complaintsOf({ network: { hub: elsewhere } })).toEqual([
        `fail network.hub: no contract at ${elsewhere}`,
        'fail network.rpc_url: eth_gasPrice: no such method',
      ])
    } finally {
      await chain.request('dev_clearFaults', [])
    }
  })

  it('R-052 warns about credentials in a URL, and shows them nowhere', async () => {
    requests = []
    const withUser = (url: string) => url.replace('http://', 'http://user:hunter2@')
    const findings = await findingsOf({
      network: { rpc_url: withUser(chain.rpcUrl), indexer_url: withUser(indexerUrl()) },
    })
    expect(
      findings.filter(({ message }) => message.includes('has credentials')).map(({ key }) => key),
    ).toEqual(['network.rpc_url', 'network.indexer_url'])
    expect(JSON.stringify(findings)).not.toContain('hunter2')
    expect(requests).toEqual([`/indexer/healthz Basic ${Buffer.from('user:hunter2').toString('base64')}`])
  })

  it('R-053 warns about an indexer that does not answer well', async () => {
    const url = indexerUrl().replace('/indexer', '/nothing')
    expect(await complaintsOf({ network: { indexer_url: url } })).toEqual([
      `warn network.indexer_url: ${url}/healthz answered with status 404`,
    ])
  })

  it('R-054 leaves the decider alone', async () => {
    requests = []
    await findingsOf({ network: { decider_url: indexerUrl().replace('/indexer', '/decider') } })
    expect(requests).toEqual(['/indexer/healthz'])
  })

  it('R-051 says that a profile other than local accepts nothing', async () => {
    const env = { ...randomKeys(), SVC_ADMIN_TOKEN: 'a-token-that-is-long-enough' }
    const changes = { settlement: { permit_burner: undefined, min_amount: '1' } }
    for (const profile of ['testnet', 'production', undefined]) {
      expect(await complaintsOf({ ...changes, profile }, env)).toEqual([
        `warn profile: is ${profile ?? 'unset'}: the daemon answers, but accepts no payments; only "local" does`,
      ])
    }
  })

  it('prices a payment, and warns where dust is taken on a network that is not local', async () => {
    const env = { ...randomKeys(), SVC_ADMIN_TOKEN: 'a-token-that-is-long-enough' }
    const costs = async (profile: string, settlement: Record<string, unknown> = {}) => {
      const found = await findingsOf({ profile, settlement }, env)
      return found.find(({ key }) => key === 'settlement.min_amount')
    }
    expect(await costs('production')).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/is not set, .* costs 0\.\d+ for its burn .* and 0\.\d+ for its mint/),
    })
    expect(await costs('production', { relay_min_amount: '1000' })).toMatchObject({ level: 'warn' })
    expect(await costs('production', { min_amount: '1000' })).toMatchObject({ level: 'ok' })
    expect(await costs('local')).toMatchObject({ level: 'ok' })
  })

  it('R-082 finds a relayer without money for mints, when payers burn themselves', async () => {
    const relayerKey = generatePrivateKey()
    const env = { ...keys, SVC_RELAYER_PK: relayerKey }
    const found = () => complaintsOf({ settlement: { permit_burner: undefined } }, env)
    expect(await found()).toEqual([
      expect.stringMatching(/^fail SVC_RELAYER_PK: .* has no money for gas: nothing can be minted/),
    ])
    await chain.request('hardhat_setBalance', [privateKeyToAddress(relayerKey), '0x1'])
    expect(await found()).toEqual([expect.stringMatching(/^warn SVC_RELAYER_PK: .* a mint reserves /)])
  })

  it('wants gas for mints at the minter when it has a key, and none for them at the relayer', async () => {
    const minterKey = generatePrivateKey()
    const env = { ...keys, SVC_MINTER_PK: minterKey }
    expect(await complaintsOf({}, env)).toEqual([
      expect.stringMatching(/^fail SVC_MINTER_PK: the minter .* has no money for gas: nothing can be minted/),
    ])
    await chain.request('hardhat_setBalance', [privateKeyToAddress(minterKey), '0x1'])
    expect(await complaintsOf({}, env)).toEqual([
      expect.stringMatching(/^warn SVC_MINTER_PK: .* a mint reserves /),
    ])
    await chain.request('hardhat_setBalance', [privateKeyToAddress(minterKey), '0xde0b6b3a7640000'])
    const poor = { ...env, SVC_RELAYER_PK: generatePrivateKey() }
    expect(await complaintsOf({ settlement: { permit_burner: undefined } }, poor)).toEqual([])
    expect(await complaintsOf({}, poor)).toEqual([
      expect.stringMatching(/^fail SVC_RELAYER_PK: .* no gasless payment can be relayed$/),
    ])
  })

  it('R-082 finds a relayer without money, which does not keep the daemon from starting', async () => {
    const relayerKey = generatePrivateKey()
    const address = parseAddress(privateKeyToAddress(relayerKey))
    const env = { ...keys, SVC_RELAYER_PK: relayerKey }
    const failures = (await findingsOf({}, env)).filter(isFailure)
    expect(failures).toEqual([
      {
        level: 'fail',
        key: 'SVC_RELAYER_PK',
        message: `the relayer ${address} has no money for gas: no gasless payment can be relayed and nothing minted`,
        start: 'anyway',
      },
    ])
    await chain.request('hardhat_setBalance', [address, '0x1'])
    expect(await complaintsOf({}, env)).toEqual([
      expect.stringMatching(
        /^warn SVC_RELAYER_PK: the relayer .* has 0\.000000000000000001 of .* batch of burns/,
      ),
    ])
  })

  it('fault 20: finds a clock that differs from the chain', async () => {
    const file = writeConfig()
    const at = async (offsetSeconds: number) => {
      const block = (await chain.request('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
      const now = (Number(block.timestamp) + offsetSeconds) * 1000
      const { findings } = await check({ file, env: keys, clock: { now: () => now } })
      return findings.filter(({ key }) => key === 'clock').map(format)
    }
    expect(await at(-5)).toEqual([])
    expect(await at(-6)).toEqual(['warn clock: this machine is 6 s behind the chain; set its clock'])
    expect(await at(-151)).toEqual(['fail clock: this machine is 151 s behind the chain; set its clock'])
    expect(await at(100_000)).toEqual([])
  })

  it('leaves no trace on the disk', async () => {
    const file = writeConfig()
    await check({ file, env: keys, clock: { now: () => Date.now() } })
    expect(readdirSync(join(file, '..'))).toEqual(['facilitator.toml'])
  })
})

describe('svc-facilitator check', () => {
  it('R-075 prints one line per finding, exits 0 when none failed, and starts nothing', async () => {
    const file = writeConfig()
    const { code, stdout, stderr } = await runCommand(['check', '--config', file], keys)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const line of stdout.trim().split('\n')) expect(line).toMatch(/^(?:ok {2}|warn) [^:]+: .+$/)
    expect(readdirSync(join(file, '..'))).toEqual(['facilitator.toml'])
  })

  it('R-075 exits 1 with every failure on a line of its own', async () => {
    const file = writeConfig({
      network: { hub: elsewhere },
      settlement: { journal: '/no/such/folder/j', confirmations: 0, permit_burner: elsewhere },
    })
    const env = { ...keys, SVC_TREASURY_PK: 'hunter2' }
    const { code, stdout } = await runHere(['check', '--config', file], env)
    expect(code).toBe(1)
    const failed = stdout.split('\n').filter((line) => line.startsWith('fail '))
    expect(failed.map((line) => line.split(' ')[1])).toEqual([
      'settlement.confirmations:',
      'SVC_TREASURY_PK:',
      'network.hub:',
      'settlement.permit_burner:',
      'settlement.journal:',
    ])
    expect(stdout).not.toContain('hunter2')
    expect(stdout).not.toContain(relayer.privateKey.slice(2))
  })

  it.each<[string, Tables, string]>([
    ['a mistyped profile', { profile: 'prod' }, 'profile'],
    ['a mistyped RPC', { network: { rpc_url: 'x' } }, 'network.rpc_url'],
    ['a missing chain id', { network: { chain_id: undefined } }, 'network.chain_id'],
    ['a token that is not there', { network: { token: elsewhere } }, 'network.token'],
    ['a verifier that is not there', { network: { verifier: elsewhere } }, 'network.verifier'],
    [
      'a splitter that is not there',
      { fee: { bps: 1, min_per_payment: '0', charge_to: 'payer', splitter: elsewhere } },
      'fee.splitter',
    ],
  ])('R-075 has one failure line for one problem: %s', async (_what, changes, key) => {
    const failed = (await findingsOf(changes)).filter(isFailure)
    expect(failed.map((finding) => finding.key)).toEqual([key])
  })

  it('R-075 a node that refuses each question in its own words is one problem', async () => {
    const refused = ['eth_chainId', 'eth_getCode', 'eth_getBalance', 'eth_gasPrice', 'eth_call']
    const faultOf = (method: string) => ({ method, kind: 'error', code: -32001, message: 'no key' })
    await chain.request('dev_setFaults', [refused.map(faultOf)])
    try {
      const failed = (await findingsOf()).filter(isFailure)
      expect(failed.map(({ key, message }) => `${key}: ${message}`)).toEqual([
        'network.rpc_url: eth_chainId: no key',
      ])
    } finally {
      await chain.request('dev_clearFaults', [])
    }
  })

  it('R-075 exits 75 when only the RPC is down, and tells machines the same as JSON', async () => {
    const file = writeConfig({ network: { rpc_url: 'http://127.0.0.1:1' } })
    const { code, stdout } = await runHere(['check', '--config', file, '--json'], keys)
    expect(code).toBe(75)
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ ok: false, exitCode: 75 })
    expect(report.findings.filter(({ level }: { level: string }) => level === 'fail')).toEqual([
      {
        level: 'fail',
        key: 'network.rpc_url',
        message: 'the RPC at 127.0.0.1:1 did not answer',
        start: 'later',
      },
    ])
  })
})

function randomKeys() {
  return { SVC_TREASURY_PK: generatePrivateKey(), SVC_RELAYER_PK: generatePrivateKey() }
}

function asDeployer() {
  const account = privateKeyToAccount(deployer.privateKey)
  const client = createPublicClient({ transport: http(chain.rpcUrl) })
  return {
    wallet: createWalletClient({ account, transport: http(chain.rpcUrl) }),
    mined: async (sent: Promise<Hex>) => minedReceipt(client, await sent),
  }
}

/** A token like the first, but with nobody to mint it. */
async function deploySecondToken(): Promise<string> {
  const { wallet, mined } = asDeployer()
  const args = ['Second', 'S', 6, deployer.address] as const
  const deploying = wallet.deployContract({ abi: tokenAbi, bytecode: tokenBytecode, args, chain: null })
  const { contractAddress } = await mined(deploying)
  return (contractAddress ?? '').toLowerCase()
}
