/** From the burns of an epoch and a proved root to the call that counts them and mints their sum. */
import assert from 'node:assert/strict'
import { verifierAbi } from '@svc-zerc20/contracts'
import type { Address } from '@svc-zerc20/protocol'
import { batchCircuit, batchRange, batchWithdrawInput } from '@svc-zerc20/zk'
import { encodeFunctionData } from 'viem/utils'
import type { EpochLeaf } from '../payment/epochs/epoch.js'
import type { BatchPorts } from '../payment/epochs/ports.js'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import type { BurnSecretsOf } from './burn-secrets.js'
import type { MerklePaths } from './paths.js'
import { askProver, type MintProver, notDerived } from './proofs.js'

export function createBatchProofs(deps: {
  /** Secrets of burns are derived here, and kept nowhere. */
  readonly secretsOf: BurnSecretsOf
  readonly paths: MerklePaths
  readonly prover: MintProver
  readonly verifier: Address
  /** Ceiling for one batch. Unused gas is not paid. */
  readonly batchGas: bigint
}): Pick<BatchPorts, 'prove' | 'rangeOf'> {
  /** A burn with its secret and its path. */
  async function locate({ challenge, burn }: EpochLeaf, root: ProvedRoot, signal: AbortSignal) {
    const { secret, payTo } = deps.secretsOf(challenge)
    // The circuit would refuse this, too, but its error names only a line of the circuit.
    if (payTo() !== challenge.payTo) throw notDerived()
    const { leafIndex, from, value } = burn
    const leaf = { from, to: challenge.payTo, value }
    const siblings = await deps.paths({ ...leaf, leafIndex }, root, signal)
    return { ...leaf, secret, siblings, leafIndex: Number(leafIndex) }
  }

  return {
    async prove({ leaves, ...range }, root, signal) {
      const [first] = leaves
      assert(first, 'a batch has at least one burn')
      assert(
        leaves.every(({ burn }) => burn.value > 0n),
        'a burn of nothing has no place in a batch',
      )
      assert(range.end <= root.size, 'a leaf above the root can still change')
      const { recipient, recipientHash } = deps.secretsOf(first.challenge)
      const [start, end] = [Number(range.start), Number(range.end)]
      const burns = []
      // One after the other: neighbours lie in one stretch of leaves, and an indexer answers for a stretch at a time.
      for (const leaf of leaves) burns.push(await locate(leaf, root, signal))
      const input = batchWithdrawInput({ root: root.root, recipientHash, start, end, burns })
      const { proof, signals } = await askProver(deps.prover, batchCircuit, input, signal)
      const value = burns.reduce((sum, burn) => sum + burn.value, 0n)
      // The contract puts these numbers in by itself. A proof of others would be refused there, after the gas is spent.
      assert.deepEqual(signals, [root.root, recipientHash, value, range.start, range.end])
      const args = [root.size, recipient, start, end, value, eightWords(proof)] as const
      return {
        to: deps.verifier,
        gas: deps.batchGas,
        data: encodeFunctionData({ abi: verifierAbi, functionName: 'batchTeleport', args }),
      }
    },

    rangeOf(leafIndices, limit) {
      const { count, end } = batchRange(leafIndices.map(Number), Number(limit))
      return { count, end: BigInt(end) }
    },
  }
}

type EightWords = readonly [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint]

function eightWords(proof: readonly bigint[]): EightWords {
  assert(proof.length === 8, 'a proof has eight words')
  return proof as unknown as EightWords
}
