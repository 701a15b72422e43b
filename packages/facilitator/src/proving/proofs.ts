/** From a burn and a proved root to the call that mints it. */
import { encodeWithdrawProof, verifierAbi } from '@svc-zerc20/contracts'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { type CircuitInput, type CircuitName, withdrawInput } from '@svc-zerc20/zk'
import { encodeFunctionData } from 'viem/utils'
import type { ProveMint } from '../payment/finalize/ports.js'
import type { AwaitingMint } from '../payment/records.js'
import type { BurnSecretsOf } from './burn-secrets.js'
import type { MerklePaths, TreeLeaf } from './paths.js'

/** The part of the prover's interface that is used here. The prover runs in its own processes. */
export type MintProver = {
  prove(
    circuit: CircuitName,
    input: Readonly<Record<string, bigint | readonly bigint[]>>,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly proof: readonly bigint[]; readonly signals: readonly bigint[] }>
}

export type WitnessSources = {
  /** Secrets of burns are derived here, and kept nowhere. */
  readonly secretsOf: BurnSecretsOf
  readonly paths: MerklePaths
}

export function createMintProofs({
  secretsOf,
  paths,
  ...deps
}: WitnessSources & {
  readonly prover: MintProver
  readonly verifier: Address
  /** Ceiling for one mint. Unused gas is not paid. */
  readonly mintGas: bigint
}): ProveMint {
  return async (payment, root, signal) => {
    const { burn, challenge } = payment
    const { recipient, recipientHash, secret, payTo } = secretsOf(challenge)
    // The circuit would refuse this, too, but its error names only a line of the circuit.
    if (payTo() !== challenge.payTo) throw notDerived()
    const siblings = await paths(leafOf(payment), root, signal)
    const { from, value, leafIndex } = burn
    const { circuit, input } = withdrawInput({
      root: root.root,
      recipientHash,
      secret,
      from,
      value,
      leafIndex: Number(leafIndex),
      siblings,
    })
    const { proof } = await askProver(deps.prover, circuit, input, { signal })
    return {
      to: deps.verifier,
      gas: deps.mintGas,
      nonces: [challenge.nonce],
      data: encodeFunctionData({
        abi: verifierAbi,
        functionName: 'singleTeleport',
        args: [false, root.size, recipient, encodeWithdrawProof(proof, [root.root, recipientHash, value])],
      }),
    }
  }
}

const leafOf = ({ burn: { leafIndex, from, value }, challenge }: AwaitingMint): TreeLeaf => ({
  leafIndex,
  from,
  to: challenge.payTo,
  value,
})

export const notDerived = () =>
  new SvcError(
    'address_not_derived',
    'the address of this payment does not derive from SVC_TREASURY_PK and zerc20.pow_bits as they ' +
      'are now: it was issued under others. Put back the ones of that time and start again; until then it waits, and ' +
      'nothing is lost',
  )

/** Asks for a proof. An input that the circuit does not accept is told in words. */
export async function askProver(
  prover: MintProver,
  circuit: CircuitName,
  input: CircuitInput,
  options: Parameters<MintProver['prove']>[2],
): ReturnType<MintProver['prove']> {
  try {
    return await prover.prove(circuit, input, options)
  } catch (err) {
    throw isRefused(err) ? refused(err) : err
  }
}

/** The prover's error for an input that the circuit does not accept. */
const isRefused = (err: unknown): boolean => Object(err).code === 'bad_input'

const refused = (cause: unknown) =>
  new SvcError(
    'witness_refused',
    'the circuit does not accept this burn: the keys in zerc20.artifacts are of another circuit than this version ' +
      'proves with, or the path to the root is of another tree. Run `svc-facilitator check`, which compares the keys ' +
      'with the verifier; until then the payment waits, and nothing is lost',
    { cause },
  )
