/** From the burns of an epoch to the call that counts and mints them. Their secrets are derived here, and kept nowhere. */
import assert from 'node:assert/strict'
import { batchRange } from '@svc-zerc20/zk'
import type { EpochLeaf } from '../payment/epochs/epoch.js'
import type { BatchPorts } from '../payment/epochs/ports.js'
import type { ProveBatch, SecretLeaf } from './batch-proofs.js'
import type { BurnSecretsOf } from './burn-secrets.js'
import { notDerived } from './proofs.js'

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
