import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { hubAbi, permitBurnerAbi, tokenAbi, verifierAbi, withdrawVerifierAbi } from '@svc-zerc20/contracts'
import { type Manifest, neededCircuits, readArtifacts, verificationKeyHash } from '@svc-zerc20/zk'
import { createPublicClient, http, isAddressEqual, parseEther, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { developmentRoles } from '../node/accounts.js'
import { type Chain, startChain } from '../node/chain.js'
import { deployContracts } from './deploy.js'
import { type Deployment, devnetEndpointId, devnetToken } from './deployment.js'
import { faucetLimits } from './faucet.js'

const { deployer, payer, relayer } = developmentRoles
let chain: Chain

beforeEach(async () => {
  chain = await startChain()
})

afterEach(() => chain.close())

const deploy = (extra: Partial<Parameters<typeof deployContracts>[0]> = {}) =>
  deployContracts({ rpcUrl: chain.rpcUrl, deployer, payer: payer.address, fund: [relayer.address], ...extra })
const client = () => createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 })

test('all contracts are deployed and know each other', async () => {
  const { token, verifier, hub, permitBurner, chainId, fromBlock } = await deploy()
  const read = client()
  const tokenContract = { address: token, abi: tokenAbi } as const
  expect(chainId).toBe(31_337)
  expect(await read.readContract({ ...tokenContract, functionName: 'name' })).toBe(devnetToken.name)
  expect(await read.readContract({ ...tokenContract, functionName: 'symbol' })).toBe('zUSD')
  expect(await read.readContract({ ...tokenContract, functionName: 'decimals' })).toBe(6)
  expect(await read.readContract({ ...tokenContract, functionName: 'verifier' })).toBe(verifier)
  expect(await read.readContract({ ...tokenContract, functionName: 'minter' })).toBe(deployer.address)
  expect(await read.readContract({ address: verifier, abi: verifierAbi, functionName: 'token' })).toBe(token)
  expect(await read.readContract({ address: hub, abi: hubAbi, functionName: 'getTokenInfos' })).toEqual([
    { chainId: 31_337n, eid: devnetEndpointId, verifier, token },
  ])
  const domain = await read.readContract({
    address: permitBurner,
    abi: permitBurnerAbi,
    functionName: 'eip712Domain',
  })
  expect(domain[1]).toBe('SvcPermitBurner')
  const balance = { ...tokenContract, functionName: 'balanceOf', args: [payer.address] } as const
  expect(await read.readContract(balance)).toBe(faucetLimits.tokenUnitsMax)
  const [first] = await read.getContractEvents({ ...tokenContract, eventName: 'IndexedTransfer', fromBlock })
  expect(first?.args).toMatchObject({ index: 0n, to: payer.address })
})

test('a second deployment finds the first and sends nothing', async () => {
  const first = await deploy()
  const height = await chain.request('eth_blockNumber')
  const log: string[] = []
  const second = await deploy({ log: (line) => log.push(line) })
  expect(second).toEqual({ ...first, isNew: false, fromBlock: 0n })
  expect(await chain.request('eth_blockNumber')).toBe(height)
  expect(log).toEqual([`contracts found: token ${first.token}`])
})

test('a node of an older fork is told which one the contracts need', async () => {
  const { port } = new URL(chain.rpcUrl)
  // It refuses as a node refuses whose interpreter lacks an instruction.
  const old = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const { id, method } = JSON.parse(text) as { id: number; method: string }
    if (method === 'eth_estimateGas') {
      const error = { code: -32_000, message: 'invalid opcode: MCOPY' }
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    }
    const answer = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    })
    return response.end(await answer.text())
  })
  await new Promise<void>((ready) => old.listen(0, '127.0.0.1', ready))
  try {
    const rpcUrl = `http://127.0.0.1:${(old.address() as AddressInfo).port}`
    await expect(deploy({ rpcUrl })).rejects.toThrow(
      /^the node does not know .* the fork Prague or a newer one/,
    )
  } finally {
    old.close()
  }
})

test('a deployer that has sent other things before deploys again', async () => {
  const [account] = [privateKeyToAccount(deployer.privateKey)]
  const raw = await account.signTransaction({
    type: 'legacy',
    chainId: 31_337,
    nonce: 0,
    to: payer.address,
    gas: 21_000n,
    gasPrice: 10_000_000_000n,
  })
  await chain.request('eth_sendRawTransaction', [raw])
  const first = await deploy()
  const second = await deploy()
  expect(isAddressEqual(first.token, second.token)).toBe(false)
})

test('proofs are checked by verifiers of the given keys, which stay while the keys do', async () => {
  const { manifest } = await readArtifacts(await ensureArtifacts())
  const first = await deploy({ proofs: { manifest, rootProvers: [relayer.address] } })
  expect(await keyHashes(first)).toEqual(
    neededCircuits.map((name) => manifest.circuits[name].verificationKeyHash),
  )
  const verifier = { address: first.verifier, abi: verifierAbi } as const
  const read = client()
  expect(await read.readContract({ ...verifier, functionName: 'hub' })).toBe(first.hub)
  expect(await read.readContract({ ...verifier, functionName: 'powBits' })).toBe(manifest.powBits)
  expect(await read.readContract({ ...verifier, functionName: 'rootDecider' })).toBe(
    first.proofVerifiers?.['root-64'],
  )
  const mayProve = { ...verifier, functionName: 'isAllowedProver' } as const
  expect(await read.readContract({ ...mayProve, args: [relayer.address] })).toBe(true)
  expect(await read.readContract({ ...mayProve, args: [payer.address] })).toBe(false)

  const height = await chain.request('eth_blockNumber')
  const second = await deploy({ proofs: { manifest, rootProvers: [relayer.address] } })
  expect(second).toEqual({ ...first, isNew: false, fromBlock: 0n })
  expect(await chain.request('eth_blockNumber')).toBe(height)

  const other = withOtherKey(manifest)
  const third = await deploy({ proofs: { manifest: other, rootProvers: [relayer.address] } })
  expect(third.token).toBe(first.token)
  expect(await keyHashes(third)).toEqual(
    neededCircuits.map((name) => other.circuits[name].verificationKeyHash),
  )
})

test('batches are taken when they are asked for, under the key of the manifest', async () => {
  const { manifest } = await readArtifacts(await ensureArtifacts())
  const rootProvers = [relayer.address]
  const slot = async ({ verifier }: Deployment) => {
    const address = await client().readContract({
      address: verifier,
      abi: verifierAbi,
      functionName: 'batchVerifier',
    })
    if (address === zeroAddress) return undefined
    return client().readContract({ address, abi: withdrawVerifierAbi, functionName: 'verificationKeyHash' })
  }
  const ours = withBatchKey(manifest, 0)
  const keyHash = ours.circuits['batch-withdraw']?.verificationKeyHash
  expect(await slot(await deploy({ proofs: { manifest: ours, rootProvers } }))).toBeUndefined()
  const first = await deploy({ proofs: { manifest: ours, rootProvers, batch: true } })
  expect(await slot(first)).toBe(keyHash)

  const height = await chain.request('eth_blockNumber')
  expect(await deploy({ proofs: { manifest: ours, rootProvers, batch: true } })).toEqual(first)
  expect(await deploy({ proofs: { manifest: ours, rootProvers } })).toEqual(first)
  expect(await chain.request('eth_blockNumber')).toBe(height)

  const other = withBatchKey(manifest, 1)
  const second = await deploy({ proofs: { manifest: other, rootProvers, batch: true } })
  expect(await slot(second)).toBe(other.circuits['batch-withdraw']?.verificationKeyHash)
  expect(second.proofVerifiers?.['root-16']).toBe(first.proofVerifiers?.['root-16'])
  // Somebody may hold the secrets of a key that is no longer known.
  expect(await slot(await deploy({ proofs: { manifest: ours, rootProvers } }))).toBeUndefined()
  const { 'batch-withdraw': _, ...circuits } = manifest.circuits
  await expect(
    deploy({ proofs: { manifest: { ...manifest, circuits }, rootProvers, batch: true } }),
  ).rejects.toThrow('npm run circuits -- --batch')
})

test('other demands on the proof of work are another deployment', async () => {
  const { manifest } = await readArtifacts(await ensureArtifacts())
  const first = await deploy()
  const proofs = { manifest: { ...manifest, powBits: manifest.powBits + 1 }, rootProvers: [] }
  expect((await deploy({ proofs })).token).not.toBe(first.token)
})

test('accounts without native money get some', async () => {
  const stranger = privateKeyToAccount(generatePrivateKey()).address
  const rich = await client().getBalance({ address: relayer.address })
  await deploy({ fund: [relayer.address, stranger, deployer.address] })
  expect(await client().getBalance({ address: stranger })).toBe(parseEther('1'))
  expect(await client().getBalance({ address: relayer.address })).toBe(rich)
})

test('deploying works where blocks come slowly, with everything in a few of them', async () => {
  await chain.close()
  chain = await startChain({ mining: { mode: 'interval', intervalMs: 200 } })
  const { token } = await deploy()
  expect(await client().getCode({ address: token })).toMatch(/^0x60/)
})

async function keyHashes({ proofVerifiers }: Awaited<ReturnType<typeof deploy>>) {
  const addresses = neededCircuits.map((name) => proofVerifiers?.[name] ?? zeroAddress)
  const question = { abi: withdrawVerifierAbi, functionName: 'verificationKeyHash' } as const
  return Promise.all(addresses.map((address) => client().readContract({ ...question, address })))
}

/** A key as a circuit of five signals has it, without its setup; each number gives another one. */
function withBatchKey(
  { powBits, circuits }: Manifest,
  number: number,
): Pick<Manifest, 'powBits' | 'circuits'> {
  const keys = circuits['root-16']
  const verificationKey = { ...keys.verificationKey, ic: keys.verificationKey.ic.slice(number, 6 + number) }
  const batch = { ...keys, verificationKey, verificationKeyHash: verificationKeyHash(verificationKey) }
  return { powBits, circuits: { ...circuits, 'batch-withdraw': batch } }
}

/** Looks like a new setup to a deployment: the keys of the two withdraw circuits are swapped. */
function withOtherKey({ powBits, circuits }: Manifest): Pick<Manifest, 'powBits' | 'circuits'> {
  const [local, global] = [circuits['withdraw-local'], circuits['withdraw-global']]
  return { powBits, circuits: { ...circuits, 'withdraw-local': global, 'withdraw-global': local } }
}
