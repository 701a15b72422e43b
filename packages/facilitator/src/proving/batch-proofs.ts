/** From the burns of an epoch and a proved root to the call that counts them and mints their sum. */
import assert from 'node:assert/strict'
import { verifierAbi } from '@svc-zerc20/contracts'
import type { Address } from '@svc-zerc20/protocol'
import { batchCircuit, batchRange, batchWithdrawInput, fittingLeaves } from '@svc-zerc20/zk'
import { encodeFunctionData } from 'viem/utils'
import type { EpochLeaf } from '../payment/epochs/epoch.js'
import type { Batch, BatchPorts } from '../payment/epochs/ports.js'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import { askProver, type MintProver, notDerived, type WitnessSources } from './proofs.js'

type Deps = WitnessSources & {
  readonly prover: MintProver
  readonly verifier: Address
  /** Ceiling for one mint. Unused gas is not paid. */
  readonly mintGas: bigint
}

/** Proves for the burns of a batch, with their secrets and paths. */
async function prove(
  { secretsOf, paths, prover }: Deps,
  { leaves, ...range }: Batch,
  root: ProvedRoot,
  signal: AbortSignal,
) {
  async function locate({ challenge, burn }: EpochLeaf) {
    const { secret, payTo } = secretsOf(challenge)
    // The circuit would refuse this, too, but its error names only a line of the circuit.
    if (payTo() !== challenge.payTo) throw notDerived()
    const { leafIndex, from, value } = burn
    const leaf = { from, to: challenge.payTo, value }
    const siblings = await paths({ ...leaf, leafIndex }, root, signal)
    return { ...leaf, secret, siblings, leafIndex: Number(leafIndex) }
  }

  const [first] = leaves
  assert(first, 'a batch has at least one burn')
  assert(
    leaves.every(({ burn }) => burn.value > 0n),
    'a burn of nothing has no place in a batch',
  )
  assert(range.end <= root.size, 'a leaf above the root can still change')
  const { recipientHash } = secretsOf(first.challenge)
  const [start, end] = [Number(range.start), Number(range.end)]
  const burns = []
  // One after the other: neighbours lie in one stretch of leaves, and an indexer answers for a stretch at a time.
  for (const leaf of leaves) burns.push(await locate(leaf))
  const input = batchWithdrawInput({ root: root.root, recipientHash, start, end, burns })
  return askProver(prover, batchCircuit, input, { signal })
}

export function createBatchProofs(deps: Deps): Pick<BatchPorts, 'prove' | 'fits' | 'rangeOf'> {
  return {
    async prove(batch, root, signal) {
      const { leaves, start, end } = batch
      const [first] = leaves
      assert(first)
      const { recipient, recipientHash } = deps.secretsOf(first.challenge)
      const value = leaves.reduce((sum, { burn }) => sum + burn.value, 0n)
      const wanted = [root.root, recipientHash, value, start, end]
      const { proof, signals } = await prove(deps, batch, root, signal)
      // The contract puts these numbers in by itself. A proof of others would be refused there, after the gas is spent.
      assert.deepEqual(signals, wanted)
      const args = [root.size, recipient, Number(start), Number(end), value, eightWords(proof)] as const
      return {
        to: deps.verifier,
        gas: deps.mintGas,
        data: encodeFunctionData({ abi: verifierAbi, functionName: 'batchTeleport', args }),
      }
    },

    fits: (leafIndices) => fittingLeaves(leafIndices.map(Number)),

    rangeOf(leafIndices, limit, draw) {
      const { count, end } = batchRange(leafIndices.map(Number), Number(limit), draw)
      return { count, end: BigInt(end) }
    },
  }
}

type EightWords = readonly [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint]

function eightWords(proof: readonly bigint[]): EightWords {
  assert(proof.length === 8, 'a proof has eight words')
  return proof as unknown as EightWords
}
