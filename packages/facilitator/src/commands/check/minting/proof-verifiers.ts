/** All proof verifiers that a verifier contract uses. A proof that satisfies one of them can mint. */
import {
  batchVerifierRuntime,
  type Immutables,
  readRuntime,
  rootVerifierRuntime,
  verifierAbi,
  withdrawVerifierAbi,
  withdrawVerifierRuntime,
} from '@svc-zerc20/contracts'
import { type Address, parseAddress, zeroAddress } from '@svc-zerc20/protocol'
import { batchCircuit, type CircuitName, rootBatches } from '@svc-zerc20/zk'
import type { ChainView } from '../chain-view.js'

type ProofRuntime = typeof withdrawVerifierRuntime | typeof batchVerifierRuntime | typeof rootVerifierRuntime

type Role = {
  /** Name of the verifier's view function. */
  readonly name: string
  /** The circuit of this role. Undefined for sizes of root batches without a circuit. */
  readonly circuit: CircuitName | undefined
  /** Whether a deployment must fill the role. */
  readonly needed: boolean
}

export type ProofVerifier = Role & {
  readonly address: Address | undefined
  /** Constructor values of the contract, if its code is ours. */
  readonly immutables: Immutables<ProofRuntime> | undefined
  /** The key hash that the contract reports, whatever its code is. */
  readonly keyHash: string | undefined
}

const withdrawals = [
  { name: 'singleWithdrawLocalVerifier', circuit: 'withdraw-local', needed: true },
  { name: 'singleWithdrawGlobalVerifier', circuit: 'withdraw-global', needed: true },
  { name: 'withdrawLocalDecider', circuit: 'withdraw-local', needed: false },
  { name: 'withdrawGlobalDecider', circuit: 'withdraw-global', needed: false },
] as const

/** Single mints do without batches, so this role may be empty. Only the key of our artifacts may be in it. */
const batches = { name: 'batchVerifier', circuit: batchCircuit, needed: false } as const

/** Complete, because our verifier allows only batch sizes that are powers of two below 2^16. */
const rootSizes = Array.from({ length: 16 }, (_, exponent) => 2 ** exponent)

/** The filled proofVerifiers, and the empty ones that must be filled. */
export async function readProofVerifiers(view: ChainView, verifier: Address): Promise<ProofVerifier[]> {
  const proofVerifiers = await Promise.all([
    ...[...withdrawals, batches].map((role) => {
      const runtime = role === batches ? batchVerifierRuntime : withdrawVerifierRuntime
      return readOne(view, role, runtime, view.read(verifier, verifierAbi, role.name, []))
    }),
    ...rootSizes.map((size) => {
      const circuit = (['root-16', 'root-64'] as const).find((name) => rootBatches[name] === size)
      const role = { name: `rootVerifiers(${size})`, circuit, needed: circuit !== undefined }
      const asked = view.read(verifier, verifierAbi, 'rootVerifiers', [size])
      return readOne(view, role, rootVerifierRuntime, asked)
    }),
  ])
  return proofVerifiers.filter(({ address, needed }) => needed || address !== undefined)
}

async function readOne(
  view: ChainView,
  role: Role,
  runtime: ProofRuntime,
  asked: Promise<string | undefined>,
): Promise<ProofVerifier> {
  const address = parseAddress(await asked)
  if (address === undefined || address === zeroAddress) {
    return { ...role, address: undefined, immutables: undefined, keyHash: undefined }
  }
  const [code, keyHash] = await Promise.all([
    view.code(address),
    view.read(address, withdrawVerifierAbi, 'verificationKeyHash', []),
  ])
  return { ...role, address, immutables: readRuntime(code, runtime), keyHash }
}
