import { verifierAbi } from '@svc-zerc20/contracts'
import { ProverError } from '@svc-zerc20/prover'
import { createMemoryNodes, createMerkleTree, transferLeaf } from '@svc-zerc20/zk'
import { decodeFunctionData } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, units } from '../../test/challenges.js'
import { createBatchProofs } from './batch-proofs.js'
import type { MintProver } from './proofs.js'

const leaves = Array.from({ length: 20 }, (_, at) => ({
  challenge: challengeOf(100 + at),
  burn: { ...burnOf(at), leafIndex: BigInt(at), from: addressOf(at + 1), value: units(BigInt(at)) },
}))
const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
tree.append(leaves.map(({ challenge, burn }) => transferLeaf(2, { ...burn, to: challenge.payTo })))
const root = { size: 20n, root: tree.rootAt(20), isPaused: false }
const recipient = {
  chainId: 31337n,
  recipient: `0x${'12'.repeat(32)}`,
  tweak: `0x${'34'.repeat(32)}`,
} as const
const leavesAt = (...places: readonly number[]) => places.flatMap((place) => leaves[place] ?? [])
const epoch = { ledger: 'ab', start: 0, treasury: challengeOf(1).treasury }
const batch = { epoch, start: 3n, end: 18n, leaves: leavesAt(4, 9, 17) }
const proof = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]
const { signal } = new AbortController()

function proving(prove: MintProver['prove']) {
  return createBatchProofs({
    secretsOf: ({ nonce }) => ({
      recipient,
      recipientHash: 99n,
      secret: 7n,
      payTo: () => leaves.find(({ challenge }) => challenge.nonce === nonce)?.challenge.payTo,
    }),
    paths: async ({ leafIndex }) => tree.pathAt(Number(leafIndex), 20).siblings,
    prover: { prove },
    verifier: addressOf(9),
    mintGas: 5n,
  }).prove
}

/** Answers with the public signals of the input, as the circuit has them. */
const honest: MintProver['prove'] = async (_, input) => ({
  proof,
  signals: ['root', 'recipient', 'withdrawValue', 'start', 'end'].map((name) => input[name] as bigint),
})

describe('a mint of many burns', () => {
  it('asks for one proof and says on chain the sum, the range and the recipient, and nothing else', async () => {
    const circuits: string[] = []
    const call = await proving(async (circuit, input, options) => {
      circuits.push(circuit)
      return honest(circuit, input, options)
    })(batch, root, signal)
    expect(circuits).toEqual(['batch-withdraw'])
    expect(call).toMatchObject({ to: addressOf(9), gas: 5n })
    expect(decodeFunctionData({ abi: verifierAbi, data: call.data })).toEqual({
      functionName: 'batchTeleport',
      args: [20n, recipient, 3, 18, 30n, proof],
    })
  })

  it('is not sent with a proof of other numbers than the contract will put in', async () => {
    const prove = proving(async (...args) => {
      const { signals } = await honest(...args)
      return { proof, signals: signals.with(4, 19n) }
    })
    await expect(prove(batch, root, signal)).rejects.toThrow(/deep/)
  })

  it.each([
    ['a leaf of value zero', { start: 0n, leaves: leavesAt(0, 4) }],
    ['an end above the root', { end: 21n }],
    ['a leaf at its end', { end: 17n }],
    ['a leaf below its start', { start: 5n }],
    ['no burn', { leaves: [] }],
  ])('is not asked for with %s', async (_, change) => {
    const prove = proving(() => Promise.reject(new Error('nobody should be asked')))
    await expect(prove({ ...batch, ...change }, root, signal)).rejects.toMatchObject({
      code: 'ERR_ASSERTION',
    })
  })

  it('is not asked for with an address that does not derive', async () => {
    const prove = proving(() => Promise.reject(new Error('nobody should be asked')))
    const other = { ...batch, leaves: [{ challenge: challengeOf(1), burn: burnOf(4) }] }
    await expect(prove(other, root, signal)).rejects.toMatchObject({ code: 'address_not_derived' })
  })

  it('that the circuit refuses is told in words', async () => {
    const cause = new ProverError('bad_input', 'the circuit refuses its inputs')
    await expect(proving(() => Promise.reject(cause))(batch, root, signal)).rejects.toMatchObject({
      code: 'witness_refused',
      cause,
    })
  })
})
