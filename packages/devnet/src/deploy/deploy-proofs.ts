import {
  keyArgument,
  rootVerifierAbi,
  rootVerifierBytecode,
  verifierAbi,
  withdrawVerifierAbi,
  withdrawVerifierBytecode,
} from '@svc-zerc20/contracts'
import { batchCircuit, type Manifest, type NeededCircuit, neededCircuits, rootBatches } from '@svc-zerc20/zk'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  zeroAddress,
} from 'viem'
import type { ChainClient } from './chain-client.js'
import { planBatchVerifier } from './deploy-batch.js'
import type { NeededVerifiers, ProofVerifiers } from './deployment.js'
import { nextNonce, type Step, sendSteps } from './send-steps.js'

/** The keys under which a verifier accepts proofs, and the accounts that may submit roots. */
export type ProofOptions = {
  /** Verification keys, and the proof-of-work bits that the circuits were compiled for. */
  readonly manifest: Pick<Manifest, 'powBits' | 'circuits'>
  /** Accounts that may prove roots. */
  readonly rootProvers: readonly Address[]
  /** Also takes batch mints; the manifest must have the keys of their circuit. */
  readonly batch?: boolean
}

type Proofs = ProofOptions & { client: ChainClient; verifier: Address; log: (line: string) => void }

/** Deploys verifiers for the manifest's keys, unless the verifier has them already, and allows the root provers. */
export async function ensureProofVerifiers(proofs: Proofs): Promise<ProofVerifiers> {
  const present = await presentVerifiers(proofs)
  const firstNonce = await nextNonce(proofs.client)
  const verifiers = present ?? plannedVerifiers(proofs.client.wallet.account.address, firstNonce)
  const steps = [
    ...(present ? [] : [...deployments(proofs), ...settings(proofs.verifier, verifiers)]),
    ...(await permissions(proofs)),
  ]
  const batch = await planBatchVerifier(proofs, firstNonce + steps.length)
  await sendSteps(proofs.client, firstNonce, [...steps, ...batch.steps], proofs.log)
  return { ...verifiers, ...(batch.address !== undefined && { [batchCircuit]: batch.address }) }
}

/** The verifiers in use, if all of them have the manifest's keys. */
async function presentVerifiers({
  client,
  verifier,
  manifest,
}: Proofs): Promise<NeededVerifiers | undefined> {
  const { readContract } = client.read
  const contract = { address: verifier, abi: verifierAbi } as const
  const [local, global, root16, root64] = await Promise.all([
    readContract({ ...contract, functionName: 'singleWithdrawLocalVerifier' }),
    readContract({ ...contract, functionName: 'singleWithdrawGlobalVerifier' }),
    readContract({ ...contract, functionName: 'rootVerifiers', args: [rootBatches['root-16']] }),
    readContract({ ...contract, functionName: 'rootVerifiers', args: [rootBatches['root-64']] }),
  ])
  const found = { 'withdraw-local': local, 'withdraw-global': global, 'root-16': root16, 'root-64': root64 }
  if (Object.values(found).includes(zeroAddress)) return undefined
  const matches = await Promise.all(
    neededCircuits.map(async (name) => {
      const address = found[name]
      const hash = await readContract({
        address,
        abi: withdrawVerifierAbi,
        functionName: 'verificationKeyHash',
      })
      return hash === manifest.circuits[name].verificationKeyHash
    }),
  )
  return matches.every(Boolean) ? found : undefined
}

function plannedVerifiers(deployer: Address, firstNonce: number): NeededVerifiers {
  const at = (name: NeededCircuit) =>
    getContractAddress({ from: deployer, nonce: BigInt(firstNonce + neededCircuits.indexOf(name)) })
  return {
    'withdraw-local': at('withdraw-local'),
    'withdraw-global': at('withdraw-global'),
    'root-16': at('root-16'),
    'root-64': at('root-64'),
  }
}

/** In the order of `plannedVerifiers`. */
function deployments({ manifest }: Proofs): Step[] {
  return neededCircuits.map((name) => ({
    what: `verifier of ${name} proofs deployed`,
    data: creationOf(name, manifest),
  }))
}

function creationOf(name: NeededCircuit, { circuits }: ProofOptions['manifest']): Hex {
  const key = keyArgument(circuits[name].verificationKey)
  return name === 'root-16' || name === 'root-64'
    ? encodeDeployData({
        abi: rootVerifierAbi,
        bytecode: rootVerifierBytecode,
        args: [key, rootBatches[name]],
      })
    : encodeDeployData({ abi: withdrawVerifierAbi, bytecode: withdrawVerifierBytecode, args: [key] })
}

function settings(verifier: Address, verifiers: NeededVerifiers): Step[] {
  return [
    {
      what: 'proof verifiers set',
      to: verifier,
      data: encodeFunctionData({
        abi: verifierAbi,
        functionName: 'setVerifiers',
        // Batches of withdrawals have their own slot, with another shape of proof.
        args: [
          verifiers['root-64'],
          zeroAddress,
          zeroAddress,
          verifiers['withdraw-global'],
          verifiers['withdraw-local'],
        ],
      }),
    },
    {
      what: 'verifier of small root batches set',
      to: verifier,
      data: encodeFunctionData({
        abi: verifierAbi,
        functionName: 'setRootVerifier',
        args: [verifiers['root-16']],
      }),
    },
  ]
}

async function permissions({ client, verifier, rootProvers }: Proofs): Promise<Step[]> {
  const contract = { address: verifier, abi: verifierAbi } as const
  const allowed = await Promise.all(
    rootProvers.map((prover) =>
      client.read.readContract({ ...contract, functionName: 'isAllowedProver', args: [prover] }),
    ),
  )
  return rootProvers
    .filter((_, at) => !allowed[at])
    .map((prover) => ({
      what: `root prover ${prover} allowed`,
      to: verifier,
      data: encodeFunctionData({ abi: verifierAbi, functionName: 'setAllowedProver', args: [prover] }),
    }))
}
