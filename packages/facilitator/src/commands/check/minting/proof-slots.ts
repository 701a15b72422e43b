/** All proof verifiers that a verifier contract uses. Whoever can satisfy one of them can mint. */
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

export type ProofSlot = {
  /** Name of the verifier's view function. */
  readonly name: string
  /** The circuit of this slot. Undefined for sizes of root batches without a circuit. */
  readonly circuit: CircuitName | undefined
  /** Whether a deployment must fill the slot. */
  readonly needed: boolean
  readonly address: Address | undefined
  /** Constructor values of the contract, if its code is ours. */
  readonly immutables: ProofImmutables | undefined
  /** The key hash that the contract reports, whatever its code is. */
  readonly keyHash: string | undefined
}

export type ProofImmutables =
  | Immutables<typeof withdrawVerifierRuntime>
  | Immutables<typeof batchVerifierRuntime>
  | Immutables<typeof rootVerifierRuntime>

type Question = Pick<ProofSlot, 'name' | 'circuit' | 'needed'> & {
  readonly runtime: typeof withdrawVerifierRuntime | typeof batchVerifierRuntime | typeof rootVerifierRuntime
  ask(view: ChainView, verifier: Address): Promise<string | undefined>
}

const withdrawSlot = (
  name:
    | 'singleWithdrawLocalVerifier'
    | 'singleWithdrawGlobalVerifier'
    | 'withdrawLocalDecider'
    | 'withdrawGlobalDecider',
  circuit: CircuitName,
  needed: boolean,
): Question => ({
  name,
  circuit,
  needed,
  runtime: withdrawVerifierRuntime,
  ask: (view, verifier) => view.read(verifier, verifierAbi, name, []),
})

const rootSlot = (batch: number): Question => {
  const circuit = (['root-16', 'root-64'] as const).find((name) => rootBatches[name] === batch)
  return {
    name: `rootVerifiers(${batch})`,
    circuit,
    needed: circuit !== undefined,
    runtime: rootVerifierRuntime,
    ask: (view, verifier) => view.read(verifier, verifierAbi, 'rootVerifiers', [batch]),
  }
}

/** Single mints do without batches, so this slot may be empty. Only the key of our artifacts may be in it. */
const batchSlot: Question = {
  name: 'batchVerifier',
  circuit: batchCircuit,
  needed: false,
  runtime: batchVerifierRuntime,
  ask: (view, verifier) => view.read(verifier, verifierAbi, 'batchVerifier', []),
}

/** Complete, because our verifier allows only batch sizes that are powers of two below 2^16. */
const questions: readonly Question[] = [
  withdrawSlot('singleWithdrawLocalVerifier', 'withdraw-local', true),
  withdrawSlot('singleWithdrawGlobalVerifier', 'withdraw-global', true),
  withdrawSlot('withdrawLocalDecider', 'withdraw-local', false),
  withdrawSlot('withdrawGlobalDecider', 'withdraw-global', false),
  batchSlot,
  ...Array.from({ length: 16 }, (_, exponent) => rootSlot(2 ** exponent)),
]

/** The filled slots, and the empty ones that must be filled. */
export async function readProofSlots(view: ChainView, verifier: Address): Promise<ProofSlot[]> {
  const slots = await Promise.all(
    questions.map(async ({ ask, runtime, ...slot }) => {
      const address = parseAddress(await ask(view, verifier))
      if (address === undefined || address === zeroAddress) {
        return { ...slot, address: undefined, immutables: undefined, keyHash: undefined }
      }
      const [code, keyHash] = await Promise.all([
        view.code(address),
        view.read(address, withdrawVerifierAbi, 'verificationKeyHash', []),
      ])
      return { ...slot, address, immutables: readRuntime(code, runtime), keyHash }
    }),
  )
  return slots.filter(({ address, needed }) => needed || address !== undefined)
}
