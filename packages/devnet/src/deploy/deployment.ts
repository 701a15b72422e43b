import type { batchCircuit, NeededCircuit } from '@svc-zerc20/zk'
import { type Address, getContractAddress } from 'viem'

/** Name, symbol and decimals of the devnet's token. */
export const devnetToken = { name: 'Devnet zUSD', symbol: 'zUSD', decimals: 6 } as const

/** The hub's number for this chain. Any number works, because no messaging layer is involved. */
export const devnetEndpointId = 1

/** Proof-of-work bits of the devnet's burn addresses: few, so that they are found quickly. Public deployments use 16. */
export const devnetPowBits = 8

/** The verifiers of proofs, by circuit. */
export type ProofVerifiers = NeededVerifiers & { readonly [batchCircuit]?: Address }

/** The verifiers of proofs that every network has. */
export type NeededVerifiers = Readonly<Record<NeededCircuit, Address>>

/** The contracts of one network. */
export type Deployment = {
  chainId: number
  token: Address
  verifier: Address
  hub: Address
  permitBurner: Address
  /** Absent when no verifiers were deployed. Then there are no roots and no mints. */
  proofVerifiers?: ProofVerifiers
  /** They were not there before: no file knows anything of them yet. */
  isNew: boolean
  /** No event of these contracts is older than this block. */
  fromBlock: bigint
}

/** The addresses of the four deployments when they are sent in sequence, beginning with this txNonce. */
export function plannedAddresses(deployer: Address, firstNonce: number): PlannedAddresses {
  const at = (offset: number) => getContractAddress({ from: deployer, nonce: BigInt(firstNonce + offset) })
  return { token: at(0), verifier: at(1), hub: at(2), permitBurner: at(3) }
}

export type PlannedAddresses = Pick<Deployment, 'token' | 'verifier' | 'hub' | 'permitBurner'>
