import type { CircuitName } from '@svc-zerc20/zk'
import { type Address, getContractAddress } from 'viem'

/** What the devnet's token calls itself. */
export const devnetToken = { name: 'Devnet zUSD', symbol: 'zUSD', decimals: 6 } as const

/** The number the hub knows this chain by. No messaging layer is involved, so any number serves. */
export const devnetEndpointId = 1

/** Zero bits that the devnet asks of a burn address: quick to find. A public deployment asks for 16. */
export const devnetPowBits = 8

/** The verifiers of proofs, by circuit. */
export type ProofVerifiers = Readonly<Record<CircuitName, Address>>

/** The contracts of one network. */
export type Deployment = {
  chainId: number
  token: Address
  verifier: Address
  hub: Address
  permitBurner: Address
  /** Absent when nothing was deployed to check proofs with: then there are no roots and no mints. */
  proofVerifiers?: ProofVerifiers
  /** No event of these contracts is older than this block. */
  fromBlock: bigint
}

/** The addresses that the four deployments get when they are sent in a row, beginning with this nonce. */
export function plannedAddresses(deployer: Address, firstNonce: number): PlannedAddresses {
  const at = (offset: number) => getContractAddress({ from: deployer, nonce: BigInt(firstNonce + offset) })
  return { token: at(0), verifier: at(1), hub: at(2), permitBurner: at(3) }
}

export type PlannedAddresses = Pick<Deployment, 'token' | 'verifier' | 'hub' | 'permitBurner'>
