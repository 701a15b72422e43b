// Everything that proofs do on chain, with real proofs under the development keys.
import { readFileSync } from 'node:fs'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { createProver, type Prover } from '@svc-zerc20/prover'
import {
  emptyRoots,
  evaluateTransfers,
  hash2,
  hubHeight,
  readArtifacts,
  rootChallenge,
  withdrawInput,
} from '@svc-zerc20/zk'
import { type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  encodeWithdrawProof,
  keyArgument,
  type RootProof,
  rootVerifierAbi,
  rootVerifierBytecode,
  withdrawVerifierAbi,
} from '../index.js'
import { type Chain, startChain } from './support/chain.js'
import { type Burn, burnOf, createLedger, type Ledger } from './support/ledger.js'
import { toyKey, toyProof } from './support/toy-key.js'
import { deployZerc20, type Mint, type Zerc20 } from './support/zerc20.js'

const value = 1234n
const provider = account(1)

let chain: Chain
let zerc20: Zerc20
let ledger: Ledger
let prover: Prover
let localBurn: Burn
let globalBurn: Burn
let smallRoot: RootProof
let largeRoot: RootProof
let localMint: Mint
let globalMint: Mint
let secondMintGas: bigint

beforeAll(async () => {
  const folder = await ensureArtifacts()
  const { manifest } = await readArtifacts(folder)
  const { circuits, powBits } = manifest
  chain = await startChain()
  zerc20 = await deployZerc20(
    chain,
    {
      withdrawLocal: circuits['withdraw-local'].verificationKey,
      withdrawGlobal: circuits['withdraw-global'].verificationKey,
      root16: circuits['root-16'].verificationKey,
      root64: circuits['root-64'].verificationKey,
    },
    powBits,
  )
  prover = createProver({ folder, processes: 1 })
  ledger = createLedger()
  localBurn = burnOf('local', provider, chain.client.chain.id, powBits)
  globalBurn = burnOf('global', provider, chain.client.chain.id, powBits)
  await live()
})

afterAll(() => prover?.close())

/** Two burns, roots over them with both batch sizes, and two mints: under a token's root and under the hub's. */
async function live() {
  const { operator } = chain
  ledger.append(await zerc20.mint(operator.address, 10n * value))
  ledger.append(await zerc20.transfer(localBurn.address, value))
  await fill(13)
  await zerc20.reserve()
  smallRoot = await ledger.claim(prover, 'root-16', { oldIndex: 0, count: 13, checkpoint: 13 })
  await zerc20.proveRoot(smallRoot)
  localMint = await mintOf(localBurn, { leafIndex: 1, size: 13 })
  await zerc20.singleTeleport(localMint)
  ledger.append({ from: account(0), to: provider, value })

  ledger.append(await zerc20.transfer(globalBurn.address, value))
  await fill(70)
  await zerc20.reserve()
  largeRoot = await ledger.claim(prover, 'root-64', { oldIndex: 13, count: 51, checkpoint: 70 })
  await zerc20.proveRoot(largeRoot)
  await zerc20.relay()
  await zerc20.broadcast()
  globalMint = await mintOf(globalBurn, { leafIndex: 14, size: 64, aggSeq: 1n })
  secondMintGas = (await zerc20.singleTeleport(globalMint)).gasUsed
}

describe('a root', () => {
  test('is proved with 16 places and with 64, by transfers up to a checkpoint further on', async () => {
    expect(await provedRoot(13)).toBe(ledger.tree.rootAt(13))
    expect(await provedRoot(64)).toBe(ledger.tree.rootAt(64))
    expect(await zerc20.read('latestProvedIndex')).toBe(64n)
  })

  test('can be proved again, which changes nothing', async () => {
    await zerc20.proveRoot(smallRoot)
    expect(await zerc20.read('latestProvedIndex')).toBe(64n)
    expect(await zerc20.read('paused')).toBe(false)
  })

  test('is not proved over a transfer that was tampered with', async () => {
    for (const at of [0, 12]) {
      const transfers = replaced(smallRoot.transfers, at, (leaf) => ({ ...leaf, value: leaf.value + 1n }))
      expect(await zerc20.refusalOfRoot({ ...smallRoot, transfers })).toBe('InvalidProof')
    }
  })

  test('is not proved when what leads to the checkpoint is not the token’s', async () => {
    const last = largeRoot.transfers.length - 1
    const transfers = replaced(largeRoot.transfers, last, (leaf) => ({ ...leaf, value: 1n }))
    expect(await zerc20.refusalOfRoot({ ...largeRoot, transfers })).toBe('NewHashChainMismatch')
    const short = { ...largeRoot, transfers: largeRoot.transfers.slice(0, last) }
    expect(await zerc20.refusalOfRoot(short)).toBe('ReserveHashChainNotFound')
  })

  test.each([
    ['another root', { newRoot: 7n }, 'InvalidProof'],
    ['fewer leaves', { count: 50 }, 'InvalidProof'],
    ['more leaves', { count: 52 }, 'InvalidCount'],
    ['the other batch size', { batch: 16 }, 'InvalidCount'],
    ['another start', { oldIndex: 0n }, 'InvalidProof'],
    ['a start without a root', { oldIndex: 12n }, 'OldRootZero'],
  ])('is not proved as %s', async (_, change, refusal) => {
    expect(await zerc20.refusalOfRoot({ ...largeRoot, ...change })).toBe(refusal)
  })

  test('does not survive a change in any word of its proof', async () => {
    for (const word of smallRoot.proof.keys()) {
      const proof = replaced(smallRoot.proof, word, (old) => old + 1n)
      expect(await zerc20.refusalOfRoot({ ...smallRoot, proof })).toBe('InvalidProof')
    }
  })
})

describe('a mint', () => {
  test('pays the recipient under a local root and under an aggregation root of the hub on the same chain', async () => {
    expect(await zerc20.balanceOf(provider)).toBe(2n * value)
    expect(await zerc20.read('totalTeleported', [localBurn.recipientHash])).toBe(value)
    expect(await zerc20.read('totalTeleported', [globalBurn.recipientHash])).toBe(value)
    expect(await zerc20.read('latestAggSeq')).toBe(1n)
  })

  test('costs at most a tenth more than one of upstream, measured at 313 846', () => {
    expect(Number(secondMintGas)).toBeLessThan(313_846 * 1.1)
  })

  test('happens once', async () => {
    expect(await zerc20.refusalOfMint(localMint)).toBe('NothingToWithdraw')
    expect(await zerc20.refusalOfMint(globalMint)).toBe('NothingToWithdraw')
  })

  test('is for its recipient, its tweak and its chain', async () => {
    const { gr } = localMint
    for (const other of [{ recipient: gr.tweak }, { tweak: globalMint.gr.tweak }, { chainId: 1n }]) {
      expect(await zerc20.refusalOfMint({ ...localMint, gr: { ...gr, ...other } })).toBe('RecipientMismatch')
    }
  })

  test('needs a root that is proved, and its own', async () => {
    expect(await zerc20.refusalOfMint({ ...localMint, rootHint: 12n })).toBe('ExpectedRootZero')
    expect(await zerc20.refusalOfMint({ ...localMint, rootHint: 0n })).toBe('TransferRootMismatch')
    expect(await zerc20.refusalOfMint({ ...localMint, rootHint: 64n })).toBe('TransferRootMismatch')
    expect(await zerc20.refusalOfMint({ ...globalMint, rootHint: 2n })).toBe('ExpectedRootZero')
  })

  test('does not pass a local proof for a global one, or the other way round', async () => {
    expect(await zerc20.refusalOfMint({ ...localMint, isGlobal: true, rootHint: 1n })).toBe('InvalidProof')
    expect(await zerc20.refusalOfMint({ ...globalMint, isGlobal: false, rootHint: 64n })).toBe('InvalidProof')
  })

  test('does not survive a change in any word of its proof or signals', async () => {
    const words = localMint.proof.slice(2).match(/.{64}/g) ?? []
    expect(words).toHaveLength(11)
    for (const at of words.keys()) {
      const changed = replaced(words, at, (word) =>
        numberToHex(BigInt(`0x${word}`) + 1n, { size: 32 }).slice(2),
      )
      expect(await zerc20.refusalOfMint({ ...localMint, proof: `0x${changed.join('')}` })).toBe(
        'InvalidProof',
      )
    }
  })
})

describe('an attacker who may prove', () => {
  const theirs = { from: account(66), to: account(67), value: 10n ** 30n }

  test('cannot pass transfers of their own for those of the token', async () => {
    const { newRoot, input } = ledger.witness('root-16', 64, [theirs])
    const { proof } = await prover.prove('root-16', input)
    const forged = { oldIndex: 64n, count: 1, batch: 16, newRoot, proof }
    const tail = ledger.transfers.slice(65)
    expect(await zerc20.refusalOfRoot({ ...forged, transfers: [theirs, ...tail] })).toBe(
      'NewHashChainMismatch',
    )
    const real = ledger.transfers.slice(64)
    expect(await zerc20.refusalOfRoot({ ...forged, transfers: real })).toBe('InvalidProof')
  })

  test('cannot prove a leaf of their own with the evaluation that the contract asks for', async () => {
    const real = ledger.transfers.slice(64, 65)
    const honest = ledger.witness('root-16', 64, real)
    const forged = ledger.witness('root-16', 64, [theirs])
    const oldChain = await zerc20.read('provedHashChains', [64n])
    const z = rootChallenge({ ...honest, oldIndex: 64, oldChain, newRoot: forged.newRoot })
    const input = { ...forged.input, z, y: evaluateTransfers(z, real) }
    await expect(prover.prove('root-16', input)).rejects.toMatchObject({ code: 'bad_input' })
  })

  test('who made the key can forge a root, but a second one at the same place stops everything', async () => {
    const forger = await chain.deploy(rootVerifierAbi, rootVerifierBytecode, [
      keyArgument(await toyKey(chain, 6)),
      16,
    ])
    await zerc20.setRootVerifier(forger)
    const { newChain } = ledger.witness('root-16', 0, smallRoot.transfers)
    const [oldRoot, newRoot] = [emptyRoots()[40] ?? 0n, 42n]
    const z = rootChallenge({ oldIndex: 0, oldChain: 0n, oldRoot, newIndex: 13, newChain, newRoot })
    const signals = [0n, oldRoot, 13n, newRoot, z, evaluateTransfers(z, smallRoot.transfers)]
    await zerc20.proveRoot({ ...smallRoot, newRoot, proof: await toyProof(chain, signals) })
    expect(await zerc20.read('paused')).toBe(true)
    expect(await provedRoot(13)).toBe(ledger.tree.rootAt(13))
    expect(await zerc20.refusalOfRoot(smallRoot)).toBe('EnforcedPause')
    expect(await zerc20.refusalOfMint(localMint)).toBe('EnforcedPause')
  })
})

test.runIf(process.platform === 'linux')(
  'proofs of all circuits need less than half a gigabyte in one process',
  () => {
    const [pid] = prover.pids()
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const residentBytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
    expect(residentBytes).toBeGreaterThan(0)
    expect(residentBytes).toBeLessThan(5e8)
  },
)

test('the contracts know the keys of the manifest by their hashes', async () => {
  const { manifest } = await readArtifacts(await ensureArtifacts())
  const { local, global, root16, root64 } = zerc20.proofVerifiers
  const expected = {
    'withdraw-local': local,
    'withdraw-global': global,
    'root-16': root16,
    'root-64': root64,
  }
  for (const [name, address] of Object.entries(expected)) {
    const question = { address, abi: withdrawVerifierAbi, functionName: 'verificationKeyHash' } as const
    const circuit = manifest.circuits[name as keyof typeof expected]
    expect(await chain.client.readContract(question)).toBe(circuit.verificationKeyHash)
  }
  expect(await zerc20.read('powBits')).toBe(manifest.powBits)
  expect(await zerc20.read('treeHeight')).toBe(manifest.treeHeight)
})

/** Grows the token to a number of leaves. */
async function fill(size: number) {
  while (ledger.transfers.length < size) {
    ledger.append(await zerc20.mint(account(1000 + ledger.transfers.length), 5n))
  }
}

async function mintOf(burn: Burn, at: { leafIndex: number; size: number; aggSeq?: bigint }): Promise<Mint> {
  const { leafIndex, size, aggSeq } = at
  const path = ledger.tree.pathAt(leafIndex, size)
  // The token stands first at the hub and is alone there: all its siblings are empty.
  const hubSiblings = aggSeq === undefined ? [] : emptyRoots().slice(0, hubHeight)
  const root = hubSiblings.reduce((node, sibling) => hash2(node, sibling), path.root)
  const from = chain.operator.address
  const { recipientHash, secret } = burn
  const siblings = [...path.siblings, ...hubSiblings]
  const { circuit, input } = withdrawInput({ root, recipientHash, secret, from, value, leafIndex, siblings })
  const { proof, signals } = await prover.prove(circuit, input)
  return {
    isGlobal: aggSeq !== undefined,
    rootHint: aggSeq ?? BigInt(size),
    gr: { ...burn.gr, chainId: BigInt(burn.gr.chainId) },
    proof: encodeWithdrawProof(proof, signals),
  }
}

function provedRoot(index: number) {
  return zerc20.read('provedTransferRoots', [BigInt(index)])
}

function replaced<T>(items: readonly T[], at: number, change: (item: T) => T): T[] {
  return items.map((item, i) => (i === at ? change(item) : item))
}

function account(number: number): Hex {
  return numberToHex(number, { size: 20 })
}
