/** Everything that a verifier lets proofs be checked with: whoever can prove to one of these can mint. */
import {
  type Immutables,
  readRuntime,
  rootVerifierRuntime,
  verifierAbi,
  withdrawVerifierAbi,
  withdrawVerifierRuntime,
} from '@svc-zerc20/contracts'
import { type Address, parseAddress, zeroAddress } from '@svc-zerc20/protocol'
import { type CircuitName, rootBatches } from '@svc-zerc20/zk'
import type { ChainView } from './chain-view.js'

export type ProofSlot = {
  /** As the verifier's view is called. */
  readonly name: string
  /** The circuit whose proofs belong here; none for sizes of batches that we have no circuit for. */
  readonly circuit: CircuitName | undefined
  /** Whether a deployment has to fill it. */
  readonly needed: boolean
  readonly address: Address | undefined
  /** What the contract was deployed with, when its code is ours. */
  readonly immutables: ProofImmutables | undefined
  /** The hash that it tells, whatever its code is. */
  readonly keyHash: string | undefined
}

export type ProofImmutables =
  | Immutables<typeof withdrawVerifierRuntime>
  | Immutables<typeof rootVerifierRuntime>

type Question = Pick<ProofSlot, 'name' | 'circuit' | 'needed'> & {
  readonly runtime: typeof withdrawVerifierRuntime | typeof rootVerifierRuntime
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

/** Sizes of batches are powers of two in sixteen bits, and our verifier takes no others: the list is complete. */
const questions: readonly Question[] = [
  withdrawSlot('singleWithdrawLocalVerifier', 'withdraw-local', true),
  withdrawSlot('singleWithdrawGlobalVerifier', 'withdraw-global', true),
  withdrawSlot('withdrawLocalDecider', 'withdraw-local', false),
  withdrawSlot('withdrawGlobalDecider', 'withdraw-global', false),
  ...Array.from({ length: 16 }, (_, exponent) => rootSlot(2 ** exponent)),
]

/** The slots that are filled, and those that should be. */
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
