/** From a burn and a proved root to the call that mints it. */
import { encodeWithdrawProof, verifierAbi } from '@svc-zerc20/contracts'
import type { Address } from '@svc-zerc20/protocol'
import { withdrawInput } from '@svc-zerc20/zk'
import { encodeFunctionData } from 'viem/utils'
import type { ProveMint } from '../payment/mint-ports.js'
import type { BurnSecretsOf } from './burn-secrets.js'
import type { MerklePaths } from './merkle-paths.js'

/** Proves in processes of its own; the part of the prover's interface used here. */
export type MintProver = {
  prove(
    circuit: string,
    input: Readonly<Record<string, bigint | readonly bigint[]>>,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly proof: readonly bigint[]; readonly signals: readonly bigint[] }>
}

export function createMintProofs(deps: {
  readonly secretsOf: BurnSecretsOf
  readonly paths: MerklePaths
  readonly prover: MintProver
  readonly verifier: Address
  /** Ceiling for one mint: what is not used is not paid. */
  readonly mintGas: bigint
}): ProveMint {
  return async (payment, root, signal) => {
    const { burn, challenge } = payment
    const { recipientHash, secret, recipient } = deps.secretsOf(challenge)
    const siblings = await deps.paths(payment, root, signal)
    const { circuit, input } = withdrawInput({
      root: root.root,
      recipientHash,
      secret,
      from: burn.from,
      value: burn.value,
      leafIndex: Number(burn.leafIndex),
      siblings,
    })
    const { proof } = await deps.prover.prove(circuit, input, { signal })
    return {
      to: deps.verifier,
      gas: deps.mintGas,
      nonces: [challenge.nonce],
      data: encodeFunctionData({
        abi: verifierAbi,
        functionName: 'singleTeleport',
        args: [
          false,
          root.size,
          recipient,
          encodeWithdrawProof(proof, [root.root, recipientHash, burn.value]),
        ],
      }),
    }
  }
}
