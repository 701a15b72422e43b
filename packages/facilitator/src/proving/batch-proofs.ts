/** From the burns of one recipient hash and a proved root to the call that mints their sum. */
import assert from 'node:assert/strict'
import { verifierAbi } from '@svc-zerc20/contracts'
import type { Address } from '@svc-zerc20/protocol'
import { batchCircuit, batchRange, batchWithdrawInput } from '@svc-zerc20/zk'
import { encodeFunctionData } from 'viem/utils'
import type { EpochLeaf } from '../payment/epochs/epoch.js'
import type { BatchPorts } from '../payment/epochs/ports.js'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import type { MintCall } from '../payment/ports.js'
import type { BurnSecrets, BurnSecretsOf } from './burn-secrets.js'
import type { MerklePaths, TreeLeaf } from './paths.js'
import { askProver, type MintProver, notDerived } from './proofs.js'

/** A transfer to a burn address, with the secret of that address. */
type SecretLeaf = TreeLeaf & { readonly secret: bigint }

/** Burns of one recipient hash, at distinct leaves from `start` up to but not including `end`, in rising order. */
export type BatchMint = Pick<BurnSecrets, 'recipient' | 'recipientHash'> & {
  /** The submitter's checkpoint on chain, or zero to count from the start. */
  readonly start: number
  /** At most the leaf count of the root. `batchRange` chooses one that names nobody. */
  readonly end: number
  /** From one to thirty, in at most four windows. A leaf of value zero adds nothing, so none has a place here. */
  readonly burns: readonly SecretLeaf[]
}

/** The call and the sum that its proof shows. Throws when the batch cannot be proved now. */
export type ProveBatch = (
  batch: BatchMint,
  root: ProvedRoot,
  signal: AbortSignal,
) => Promise<Omit<MintCall, 'nonces'> & { readonly value: bigint }>

export function createBatchProofs(deps: {
  readonly paths: MerklePaths
  readonly prover: MintProver
  readonly verifier: Address
  /** Ceiling for one batch. Unused gas is not paid. */
  readonly batchGas: bigint
}): ProveBatch {
  return async ({ recipient, recipientHash, start, end, burns }, root, signal) => {
    assert(
      burns.every(({ value }) => value > 0n),
      'a burn of nothing has no place in a batch',
    )
    assert(end <= root.size, 'a leaf above the root can still change')
    const located = []
    // One after the other: neighbours lie in one stretch of leaves, and an indexer answers for a stretch at a time.
    for (const { secret, ...leaf } of burns) {
      const siblings = await deps.paths(leaf, root, signal)
      located.push({ ...leaf, secret, siblings, leafIndex: Number(leaf.leafIndex) })
    }
    const input = batchWithdrawInput({ root: root.root, recipientHash, start, end, burns: located })
    const { proof, signals } = await askProver(deps.prover, batchCircuit, input, signal)
    const value = burns.reduce((sum, burn) => sum + burn.value, 0n)
    // The contract puts these numbers in by itself. A proof of others would be refused there, after the gas is spent.
    assert.deepEqual(signals, [root.root, recipientHash, value, BigInt(start), BigInt(end)])
    return {
      to: deps.verifier,
      gas: deps.batchGas,
      value,
      data: encodeFunctionData({
        abi: verifierAbi,
        functionName: 'batchTeleport',
        args: [root.size, recipient, start, end, value, eightWords(proof)],
      }),
    }
  }
}

type EightWords = readonly [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint]

function eightWords(proof: readonly bigint[]): EightWords {
  assert(proof.length === 8, 'a proof has eight words')
  return proof as unknown as EightWords
}

/** From the burns of an epoch to the call that counts and mints them. Their secrets are derived here, and kept nowhere. */
export function createEpochProofs(deps: {
  readonly secretsOf: BurnSecretsOf
  readonly proveBatch: ProveBatch
}): Pick<BatchPorts, 'prove' | 'rangeOf'> {
  function secretLeaf({ challenge, burn: { leafIndex, from, value } }: EpochLeaf): SecretLeaf {
    const { secret, payTo } = deps.secretsOf(challenge)
    // The circuit would refuse this, too, but its error names only a line of the circuit.
    if (payTo() !== challenge.payTo) throw notDerived()
    return { leafIndex, from, to: challenge.payTo, value, secret }
  }

  return {
    async prove({ start, end, leaves }, root, signal) {
      const [first] = leaves
      assert(first, 'a batch has at least one burn')
      const { recipient, recipientHash } = deps.secretsOf(first.challenge)
      const range = { start: Number(start), end: Number(end) }
      const burns = leaves.map(secretLeaf)
      const { value: _, ...call } = await deps.proveBatch(
        { recipient, recipientHash, ...range, burns },
        root,
        signal,
      )
      return call
    },

    rangeOf(leafIndices, limit) {
      const { count, end } = batchRange(leafIndices.map(Number), Number(limit))
      return { count, end: BigInt(end) }
    },
  }
}
