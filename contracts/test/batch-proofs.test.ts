// Mints of many burns with real proofs under the development keys. Roots are claimed under toy keys: they are the real
// roots of the leaves, and proving them costs nothing here.
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { createProver, type Prover } from '@svc-zerc20/prover'
import {
  batchCircuit,
  batchRange,
  batchShape,
  batchWithdrawInput,
  keysOf,
  readArtifacts,
} from '@svc-zerc20/zk'
import { type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { batchVerifierAbi } from '../index.js'
import { type Chain, startChain } from './support/chain.js'
import { type Burn, burnOf, createLedger, type Ledger } from './support/ledger.js'
import { toyRootClaim } from './support/toy-claims.js'
import { toyKeys } from './support/toy-key.js'
import { type BatchMint, deployZerc20, type Zerc20 } from './support/zerc20.js'

const provider = account(1)
const epoch = 1_800_000_000

/** A burn and the leaf that it is. */
type Paid = Burn & { readonly value: bigint; readonly leafIndex: number }

let chain: Chain
let zerc20: Zerc20
let ledger: Ledger
let prover: Prover
let powBits: number
let proved = 0
const paid: Paid[] = []
let full: BatchMint
let few: BatchMint
let gas: { readonly full: bigint; readonly few: bigint }

beforeAll(async () => {
  const folder = await ensureArtifacts({ batch: true })
  const { manifest } = await readArtifacts(folder)
  powBits = manifest.powBits
  chain = await startChain()
  const batch = keysOf(manifest, batchCircuit).verificationKey
  zerc20 = await deployZerc20(chain, { ...(await toyKeys(chain)), batch }, powBits)
  prover = createProver({ folder, processes: 1 })
  ledger = createLedger()
  await live()
})

afterAll(() => prover?.close())

/** As many burns as one proof counts, between transfers of others, and three more after their mint. */
async function live() {
  ledger.append(await zerc20.mint(chain.operator.address, 1_000_000n))
  for (let at = 0; at < batchShape.slots; at++) {
    await burn(`burn ${at}`, 100n + BigInt(at))
    if (at % 2 === 0) await byOthers()
  }
  await proveRoot()
  full = await batchOf({ start: 0 })
  gas = { full: (await zerc20.batchTeleport(full)).gasUsed, few: 0n }
  ledger.append({ from: account(0), to: provider, value: full.value })

  // One address is paid a second time.
  for (const name of ['late', 'burn 3', 'later']) await burn(name, 7n)
  await byOthers()
  await proveRoot()
  few = await batchOf({ start: full.end })
  gas = { ...gas, few: (await zerc20.batchTeleport(few)).gasUsed }
}

test('thirty burns are minted as one sum, and three more from where that ended', async () => {
  const sum = paid.reduce((total, { value }) => total + value, 0n)
  expect([full.value, few.value]).toEqual([sum - 21n, 21n])
  expect(await zerc20.balanceOf(provider)).toBe(sum)
  expect(await zerc20.read('totalTeleported', [hash()])).toBe(sum)
  expect(await zerc20.read('batchCount', [hash(), chain.operator.address])).toEqual([few.end, sum])
})

test('a real batch costs what the gas snapshot says of toy proofs, within a hundredth', async () => {
  const { default: snapshot } = await import('./gas-snapshot.json', { with: { type: 'json' } })
  const told = {
    // The provider’s account is fresh here, and so is a counter of the token that starts at zero.
    full: snapshot['first batchTeleport of an epoch'] + 2 * 17_100,
    few: snapshot['batchTeleport that goes on'],
  }
  expect(Number(gas.full) / told.full).toBeCloseTo(1, 2)
  expect(Number(gas.few) / told.few).toBeCloseTo(1, 2)
})

test('no word of a batch can be changed', async () => {
  const refusal = (change: Partial<BatchMint>) => zerc20.refusalOfBatch({ ...full, ...change })
  for (const word of full.proof.keys()) {
    expect(await refusal({ proof: full.proof.map((old, at) => (at === word ? old + 1n : old)) })).toBe(
      'InvalidProof',
    )
  }
  expect(await refusal({ value: full.value + 1n })).toBe('InvalidProof')
  expect(await refusal({ end: full.end - 1 })).toBe('InvalidProof')
  expect(await refusal({ rootHint: BigInt(few.end) })).toBe('InvalidProof')
  expect(await refusal({ gr: { ...full.gr, tweak: `0x${'11'.repeat(32)}` } })).toBe('InvalidProof')
  expect(await refusal({ start: 1 })).toBe('InvalidProof')
  expect(await refusal({ end: few.end })).toBe('EndAboveRoot')
})

test('a batch that was counted is counted again only from zero, and mints nothing', async () => {
  expect(await zerc20.refusalOfBatch(few)).toBe('WrongStart')
  const before = await zerc20.balanceOf(provider)
  await zerc20.batchTeleport(full)
  expect(await zerc20.balanceOf(provider)).toBe(before)
  // The count went back to where the first batch ends, so the second one goes on from there.
  await zerc20.batchTeleport(few)
  expect(await zerc20.balanceOf(provider)).toBe(before)
  expect(await zerc20.read('batchCount', [hash(), chain.operator.address])).toEqual([few.end, before])
})

test('the contract knows the key of the manifest by its hash', async () => {
  const { manifest } = await readArtifacts(await ensureArtifacts({ batch: true }))
  const address = await zerc20.read('batchVerifier')
  const question = { address, abi: batchVerifierAbi, functionName: 'verificationKeyHash' } as const
  expect(await chain.client.readContract(question)).toBe(keysOf(manifest, batchCircuit).verificationKeyHash)
})

async function burn(name: string, value: bigint) {
  const address = burnOf(name, provider, chain.client.chain.id, powBits, epoch)
  paid.push({ ...address, value, leafIndex: ledger.transfers.length })
  ledger.append(await zerc20.transfer(address.address, value))
}

async function byOthers() {
  ledger.append(await zerc20.mint(account(1000 + ledger.transfers.length), 5n))
}

/** A root of all leaves. */
async function proveRoot() {
  await zerc20.reserve()
  const { transfers } = ledger
  const newRoot = ledger.tree.rootAt(transfers.length)
  await zerc20.proveRoot(await toyRootClaim(chain, zerc20, { transfers, batch: 64, from: proved, newRoot }))
  proved = transfers.length
}

/** A batch of all burns from a leaf on, under the last root. */
async function batchOf({ start }: { start: number }): Promise<BatchMint> {
  const open = paid.filter(({ leafIndex }) => leafIndex >= start)
  const { count, end } = batchRange(
    open.map(({ leafIndex }) => leafIndex),
    proved,
    { least: open.length, chance: 0 },
  )
  expect([count, end]).toEqual([open.length, proved])
  const burns = open.map(({ secret, address: to, value, leafIndex }) => {
    const { siblings } = ledger.tree.pathAt(leafIndex, proved)
    return { secret, from: chain.operator.address, to, value, leafIndex, siblings }
  })
  const root = ledger.tree.rootAt(proved)
  const input = batchWithdrawInput({ root, recipientHash: hash(), start, end, burns })
  const { proof, signals } = await prover.prove(batchCircuit, input)
  const value = burns.reduce((sum, one) => sum + one.value, 0n)
  expect(signals).toEqual([root, hash(), value, BigInt(start), BigInt(end)])
  const gr = paid[0]?.gr
  if (gr === undefined) throw new Error('nothing was burned')
  return { rootHint: BigInt(proved), gr: { ...gr, chainId: BigInt(gr.chainId) }, start, end, value, proof }
}

/** The recipient hash of the epoch. */
function hash(): bigint {
  return paid[0]?.recipientHash ?? 0n
}

function account(number: number): Hex {
  return numberToHex(number, { size: 20 })
}
