import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import {
  batchVerifierAbi,
  batchVerifierBytecode,
  keyArgument,
  rootVerifierAbi,
  rootVerifierBytecode,
  verifierAbi,
  verifierBytecode,
  withdrawVerifierRuntime,
} from '@svc-zerc20/contracts'
import {
  type Chain,
  type Deployment,
  deployContracts,
  developmentRoles,
  minedReceipt,
  startChain,
} from '@svc-zerc20/devnet'
import {
  type CircuitArtifacts,
  type Manifest,
  manifestFile,
  neededCircuits,
  readArtifacts,
  verificationKeyHash,
} from '@svc-zerc20/zk'
import { stringify } from 'smol-toml'
import { type Abi, createPublicClient, createWalletClient, type Hex, http, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFiles } from '../../../../test/files.js'
import { format } from '../../../config/finding.js'
import { check } from '../check.js'

// Keys are built when they are missing: a minute or two on a busy machine.
const buildTimeoutMs = 600_000
const { deployer, payer, treasury, relayer, provider } = developmentRoles
const keys = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }

const files = temporaryFiles()
let chain: Chain
let deployment: Deployment
let artifacts: string
let manifest: Manifest
let before: unknown

beforeAll(async () => {
  artifacts = await ensureArtifacts()
  manifest = (await readArtifacts(artifacts)).manifest
  chain = await startChain()
  deployment = await deployContracts({
    rpcUrl: chain.rpcUrl,
    deployer,
    payer: payer.address,
    fund: [relayer.address],
    proofs: { manifest, rootProvers: [] },
  })
}, buildTimeoutMs)

afterAll(() => chain.close())
beforeEach(async () => {
  before = await chain.request('evm_snapshot', [])
})
afterEach(() => chain.request('evm_revert', [before]))

/** Writes the minimal configuration into a new folder. */
function writeConfig(
  zerc20?: Record<string, unknown>,
  changes: Record<string, unknown> = {},
  finalize: Record<string, unknown> = {},
): string {
  const { chainId, token, verifier, hub, permitBurner } = deployment
  const config = {
    profile: 'local',
    network: {
      rpc_url: chain.rpcUrl,
      indexer_url: 'http://127.0.0.1:9',
      decider_url: 'http://127.0.0.1:9',
      chain_id: chainId,
      token,
      verifier,
      hub,
      ...changes,
    },
    settlement: { treasury: provider.address, permit_burner: permitBurner, journal: 'journal.jsonl' },
    listen: { port: 0 },
    finalize,
    ...(zerc20 && { zerc20 }),
  }
  return files.write('facilitator.toml', stringify(config))
}

async function run(file: string, keyFolders?: readonly string[]) {
  const clock = { now: () => Date.now() }
  const { findings, ready } = await check({ file, env: keys, clock, ...(keyFolders && { keyFolders }) })
  const about = (key: string) => findings.filter((finding) => finding.key === key).map(format)
  return { about, artifacts: ready?.config.zerc20.artifacts }
}

/** Findings about keys and verifier, without the warning about development keys. */
async function complaints(changes: Record<string, unknown> = {}, keysIn = artifacts): Promise<string[]> {
  const { about } = await run(writeConfig({ artifacts: keysIn, pow_bits: 8 }, changes))
  return [...about('zerc20.artifacts'), ...about('network.verifier')].filter(
    (line) => !line.startsWith('ok') && !line.includes('development setup'),
  )
}

it('the proof of work of addresses is that of the keys, unless another one is chosen', async () => {
  const readyOf = async (zerc20: Record<string, unknown>) => {
    const clock = { now: () => Date.now() }
    const { ready, findings } = await check({ file: writeConfig(zerc20), env: keys, clock })
    const about = findings.filter(({ key }) => key === 'zerc20.pow_bits').map(format)
    return { bits: ready?.config.zerc20.pow_bits, about }
  }
  expect((await readyOf({ artifacts })).bits).toBe(manifest.powBits)
  const chosen = await readyOf({ artifacts, pow_bits: manifest.powBits + 1 })
  expect(chosen.bits).toBe(manifest.powBits + 1)
  expect(chosen.about).toEqual([
    expect.stringMatching(new RegExp(`^warn .*the proving keys demand only ${manifest.powBits} bits`)),
  ])
})

describe('what can mint', () => {
  it('is all ours in a deployment of this version, and its owners are told', async () => {
    expect(await complaints()).toEqual([])
    const { about } = await run(writeConfig({ artifacts, pow_bits: 8 }))
    const { address } = deployer
    expect(about('network.token')[0]).toContain(`, owner ${address}, minter ${address}`)
    expect(about('network.verifier')[0]).toContain(`, owner ${address}`)
    expect(about('network.hub')[0]).toContain(`, owner ${address}`)
  })

  it('is found in every size of root batches, not only in those that have a circuit', async () => {
    // Our code with a valid key, but for a batch of 32 leaves, for which there is no known circuit.
    const key = keyArgument(manifest.circuits['root-64'].verificationKey)
    const hidden = await deploy(rootVerifierAbi, rootVerifierBytecode, [key, 32])
    await write('setRootVerifier', [hidden])
    // A contract that answers every call with 1: that is its batch size, and every proof is valid.
    const gullible = await placed(`0x70${'0'.repeat(37)}1`, '0x600160005260206000f3')
    await write('setRootVerifier', [gullible])
    expect(await complaints()).toEqual([
      expect.stringMatching(
        /^fail zerc20.artifacts: rootVerifiers\(1\) of the verifier is 0x70.* mints without a burn$/,
      ),
      expect.stringMatching(
        /^fail zerc20.artifacts: rootVerifiers\(32\) of the verifier is .* mints without a burn$/,
      ),
    ])
  })

  it('is found in both deciders of batches, which have no circuit yet', async () => {
    const gullible = await placed(`0x71${'0'.repeat(38)}`, '0x600160005260206000f3')
    const { 'root-64': root, 'withdraw-local': local, 'withdraw-global': global } = proofVerifiers()
    await write('setVerifiers', [root, gullible, zeroAddress, global, local])
    expect(await complaints()).toEqual([
      expect.stringMatching(
        /^fail zerc20.artifacts: the verifier on chain checks proofs of withdraw-global with/,
      ),
    ])
    // The contract for single withdrawals in the role for batches accepts no proof that it would not accept anyway.
    await write('setVerifiers', [root, zeroAddress, local, global, local])
    expect(await complaints()).toEqual([])
  })

  it('is found in the role for batches with a checkpoint', async () => {
    await write('setBatchVerifier', [await placed(`0x72${'0'.repeat(38)}`, '0x600160005260206000f3')])
    expect(await complaints({}, keysFolder('single', undefined))).toEqual([
      expect.stringMatching(
        /^fail zerc20.artifacts: batchVerifier of the verifier is 0x72.* mints without a burn$/,
      ),
    ])
    expect(await complaints({}, keysFolder('both', batchKeys()))).toEqual([
      'fail zerc20.artifacts: the verifier on chain checks proofs of batch-withdraw with another key',
    ])
  })

  it('is ours in the role for batches when it has the key of the artifacts, and no other', async () => {
    const [ours, other] = [batchKeys(), batchKeys(1)]
    const folder = keysFolder('both', ours)
    // Single mints do without batches.
    expect(await complaints({}, folder)).toEqual([])
    await setBatchKey(ours)
    expect(await complaints({}, folder)).toEqual([])
    await setBatchKey(other)
    expect(await complaints({}, folder)).toEqual([
      'fail zerc20.artifacts: the verifier on chain checks proofs of batch-withdraw with another key',
    ])
  })

  it('R-114 is asked for batches before the first address of an epoch is made', async () => {
    const mode = async (keysIn: string) => {
      const file = writeConfig({ artifacts: keysIn, pow_bits: 8 }, {}, { mode: 'batch' })
      return (await run(file)).about('finalize.mode')
    }
    const [single, both] = [keysFolder('single', undefined), keysFolder('both', batchKeys())]
    const noVerifier = expect.stringMatching(
      /^fail finalize.mode: is batch, but the verifier .* takes no batches/,
    )
    const noKeys = expect.stringMatching(/^fail finalize.mode: is batch, but zerc20.artifacts has no keys/)
    expect(await mode(both)).toEqual([noVerifier])
    await setBatchKey(batchKeys())
    expect(await mode(single)).toEqual([noKeys])
    expect(await mode(both)).toEqual([])
  })

  it('is told from a contract that only tells the right hash', async () => {
    const { 'withdraw-local': local } = proofVerifiers()
    const { verificationKeyHash } = manifest.circuits['withdraw-local']
    await placed(local, `0x7f${verificationKeyHash.slice(2)}60005260206000f3`)
    expect(await complaints()).toEqual([
      `fail zerc20.artifacts: singleWithdrawLocalVerifier of the verifier is ${local.toLowerCase()}, whose code is not ours: it may take any proof for good`,
    ])
  })

  it('is told from our code with one word of the key changed, and the hash left as it is', async () => {
    const { 'withdraw-local': local } = proofVerifiers()
    const code = (await chain.request('eth_getCode', [local, 'latest'])) as string
    const [at] = withdrawVerifierRuntime.immutables._deltaXReal
    const digits = 2 + 2 * at
    await placed(local, `${code.slice(0, digits)}${'0'.repeat(64)}${code.slice(digits + 64)}` as Hex)
    expect(await complaints()).toEqual([
      'fail zerc20.artifacts: the verifier on chain checks proofs of withdraw-local with another key',
    ])
  })

  it('is not what a helper does, but our payers want to see its code too', async () => {
    const { permitBurner } = deployment
    const code = (await chain.request('eth_getCode', [permitBurner, 'latest'])) as string
    await placed(permitBurner, `${code}00` as Hex)
    const { about } = await run(writeConfig({ artifacts, pow_bits: 8 }))
    expect(about('settlement.permit_burner')[0]).toMatch(/^warn .* is not our SvcPermitBurner/)
  })

  it('is not known of a verifier with other code, and of one whose predecessor has other code', async () => {
    const { verifier, token, hub } = deployment
    const code = (await chain.request('eth_getCode', [verifier, 'latest'])) as string
    await placed(verifier, `${code}00` as Hex)
    const foreign = 'warn network.verifier: the code of verifier is not that of this version'
    expect(await complaints()).toEqual([expect.stringContaining(foreign)])
    const args = [token, 8, deployer.address, verifier] as const
    const next = await deploy(verifierAbi, verifierBytecode, args)
    expect(await complaints({ verifier: next, hub })).toContainEqual(
      expect.stringContaining(`warn network.verifier: counts on from ${verifier.toLowerCase()}, whose code`),
    )
  })
})

describe('proving keys that the configuration does not name', () => {
  it('are taken from the build’s cache when they are those of the verifier, and it is said which', async () => {
    const { about, artifacts: taken } = await run(writeConfig())
    expect(taken).toBe(artifacts)
    expect(about('zerc20.artifacts')[0]).toBe(
      `ok   zerc20.artifacts: development keys, 8 bits, in ${artifacts}; found by the hashes of the verifier’s keys`,
    )
  })

  it('are found beside the configuration file, before anywhere else', async () => {
    const file = writeConfig()
    const beside = join(dirname(file), 'circuits')
    symlinkSync(artifacts, beside)
    expect((await run(file)).artifacts).toBe(beside)
  })

  it('are not taken for their name or place: keys of other hashes stay where they are', async () => {
    const file = writeConfig()
    const place = join(dirname(file), 'circuits')
    const other = join(place, 'a')
    mkdirSync(other, { recursive: true })
    const { circuits, ...rest } = JSON.parse(readFileSync(join(artifacts, manifestFile), 'utf8'))
    const swapped = { ...circuits, 'withdraw-local': circuits['withdraw-global'] }
    writeFileSync(join(other, manifestFile), JSON.stringify({ ...rest, circuits: swapped }))
    mkdirSync(join(place, 'b'))
    writeFileSync(join(place, 'b', manifestFile), 'no manifest')
    expect(await run(file, [place])).toMatchObject({ artifacts: undefined })
    symlinkSync(artifacts, join(place, 'c'))
    expect((await run(file, [place])).artifacts).toBe(join(place, 'c'))
  })

  it('have the key of batches where there is such a folder, else the check tells what is missing', async () => {
    await setBatchKey(batchKeys())
    const without = keysFolder('a-single', undefined)
    const place = dirname(without)
    const { about, artifacts: taken } = await run(writeConfig(), [place])
    expect(taken).toBe(without)
    expect(about('zerc20.artifacts')).toContainEqual(
      expect.stringMatching(
        /^fail .*batchVerifier of the verifier is .* for which the artifacts have no key/,
      ),
    )
    const both = keysFolder('b-both', batchKeys(), place)
    expect((await run(writeConfig(), [place])).artifacts).toBe(both)
  })

  it('are not taken from a folder that everybody may write to', async () => {
    const file = writeConfig()
    const place = join(dirname(file), 'circuits')
    cpSync(artifacts, place, { recursive: true })
    chmodSync(place, 0o777)
    const { about, artifacts: taken } = await run(file, [place])
    expect(taken).toBeUndefined()
    expect(about('zerc20.artifacts')[0]).toContain('no folder with the keys of the verifier was found')
  })
})

/** A folder with the keys of this deployment, and these of batches. */
function keysFolder(name: string, batch: CircuitArtifacts | undefined, place = files.folder()): string {
  const folder = join(place, name)
  mkdirSync(folder)
  for (const name of neededCircuits) {
    const { witness, provingKey } = manifest.circuits[name]
    for (const { file } of [witness, provingKey]) symlinkSync(join(artifacts, file), join(folder, file))
  }
  const circuits = { ...manifest.circuits, 'batch-withdraw': batch }
  writeFileSync(join(folder, manifestFile), JSON.stringify({ ...manifest, circuits }))
  return folder
}

/** Keys as a circuit of five signals has them, without its setup; each number gives another key. */
function batchKeys(number = 0): CircuitArtifacts {
  const keys = manifest.circuits['root-16']
  const verificationKey = { ...keys.verificationKey, ic: keys.verificationKey.ic.slice(number, 6 + number) }
  return { ...keys, verificationKey, verificationKeyHash: verificationKeyHash(verificationKey) }
}

async function setBatchKey({ verificationKey }: CircuitArtifacts): Promise<void> {
  const args = [keyArgument(verificationKey)]
  await write('setBatchVerifier', [await deploy(batchVerifierAbi, batchVerifierBytecode, args)])
}

function proofVerifiers() {
  if (deployment.proofVerifiers === undefined) throw new Error('deployed without proof verifiers')
  return deployment.proofVerifiers
}

async function placed(address: Hex, code: Hex): Promise<Hex> {
  await chain.request('hardhat_setCode', [address, code])
  return address
}

function asDeployer() {
  const account = privateKeyToAccount(deployer.privateKey)
  const transport = http(chain.rpcUrl)
  const client = createPublicClient({ transport })
  const wallet = createWalletClient({ account, transport })
  return {
    wallet,
    mined: async (sent: Promise<Hex>) => minedReceipt(client, await sent),
  }
}

async function write(
  functionName: 'setRootVerifier' | 'setVerifiers' | 'setBatchVerifier',
  args: readonly Hex[],
): Promise<void> {
  const { wallet, mined } = asDeployer()
  const call = { address: deployment.verifier, abi: verifierAbi as Abi, functionName, args, chain: null }
  const { status } = await mined(wallet.writeContract(call))
  expect(status).toBe('success')
}

async function deploy(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Hex> {
  const { wallet, mined } = asDeployer()
  const { contractAddress } = await mined(wallet.deployContract({ abi, bytecode, args, chain: null }))
  if (!contractAddress) throw new Error('a deployment without an address')
  return contractAddress
}
