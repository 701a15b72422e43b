import {
  hubAbi,
  hubBytecode,
  permitBurnerBytecode,
  tokenAbi,
  tokenBytecode,
  verifierAbi,
  verifierBytecode,
} from '@svc-zerc20/contracts'
import { type Address, type Hex, hexToBytes, isAddressEqual } from 'viem'
import type { ChainClient } from './chain-client.js'
import { type Deployment, type PlannedAddresses, plannedAddresses } from './deployment.js'

/** The contracts that the deployer's first transactions deployed, if their code is the expected one. */
export async function findDeployment(
  client: ChainClient,
  chainId: number,
  powBits: number,
): Promise<Omit<Deployment, 'isNew'> | undefined> {
  const owner = client.wallet.account.address
  const contracts = plannedAddresses(owner, 0)
  const same = await Promise.all([
    isDeployed(client, contracts.token, tokenBytecode),
    isDeployed(client, contracts.verifier, verifierBytecode),
    isDeployed(client, contracts.hub, hubBytecode),
    isDeployed(client, contracts.permitBurner, permitBurnerBytecode),
  ])
  if (!same.every(Boolean) || !(await isWired(client, contracts, owner, powBits))) return undefined
  return { chainId, ...contracts, fromBlock: 0n }
}

async function isDeployed({ read }: ChainClient, address: Address, creation: Hex): Promise<boolean> {
  const code = await read.getCode({ address })
  return code !== undefined && isRuntimeOf(code, creation)
}

/**
 * Whether code was deployed from these creation bytes. They contain the runtime code with zeros in place of immutable
 * values, so those bytes may differ.
 */
function isRuntimeOf(code: Hex, creation: Hex): boolean {
  const deployed = hexToBytes(code)
  const template = hexToBytes(creation)
  for (let start = 0; start + deployed.length <= template.length; start += 1) {
    const matches = (byte: number, i: number) => byte === template[start + i] || template[start + i] === 0
    if (deployed.every(matches)) return true
  }
  return false
}

async function isWired(
  { read }: ChainClient,
  contracts: PlannedAddresses,
  owner: Address,
  powBits: number,
): Promise<boolean> {
  const token = { address: contracts.token, abi: tokenAbi } as const
  const verifierContract = { address: contracts.verifier, abi: verifierAbi } as const
  const [verifier, minter, hub, bits, registered] = await Promise.all([
    read.readContract({ ...token, functionName: 'verifier' }),
    read.readContract({ ...token, functionName: 'minter' }),
    read.readContract({ ...verifierContract, functionName: 'hub' }),
    read.readContract({ ...verifierContract, functionName: 'powBits' }),
    read.readContract({ address: contracts.hub, abi: hubAbi, functionName: 'getTokenInfos' }),
  ])
  return (
    isAddressEqual(verifier, contracts.verifier) &&
    isAddressEqual(minter, owner) &&
    isAddressEqual(hub, contracts.hub) &&
    bits === powBits &&
    registered.some((info) => isAddressEqual(info.token, contracts.token))
  )
}
