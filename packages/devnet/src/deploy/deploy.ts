import {
  hubAbi,
  hubBytecode,
  permitBurnerAbi,
  permitBurnerBytecode,
  tokenAbi,
  tokenBytecode,
  verifierAbi,
  verifierBytecode,
} from '@svc-zerc20/contracts'
import { type Address, encodeDeployData, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { type ChainClient, createChainClient } from './chain-client.js'
import { ensureProofVerifiers, type ProofOptions } from './deploy-proofs.js'
import {
  type Deployment,
  devnetEndpointId,
  devnetPowBits,
  devnetToken,
  type PlannedAddresses,
  plannedAddresses,
} from './deployment.js'
import { findDeployment } from './find-deployment.js'
import { fundAccounts } from './fund.js'
import { nextNonce, type Step, sendSteps } from './send-steps.js'

/**
 * Deploys all contracts to any node and funds the accounts. If the deployer's first transactions on this chain already
 * deployed the same contracts, those are used. Verifiers of proofs with other keys are replaced.
 */
export async function deployContracts(options: {
  rpcUrl: string
  deployer: { privateKey: Hex }
  /** Account that gets tokens and native money. */
  payer: Address
  /** Accounts that get native money when they have too little. */
  fund?: readonly Address[]
  /** Without it, no verifiers of proofs are deployed. */
  proofs?: ProofOptions
  /** Proof-of-work bits where there are no proofs, whose circuits would say how many. */
  powBits?: number
  log?: (line: string) => void
}): Promise<Deployment> {
  const { log = () => undefined, proofs } = options
  const client = createChainClient({ rpcUrl: options.rpcUrl, privateKey: options.deployer.privateKey })
  const chainId = await client.read.getChainId()
  const powBits = proofs?.manifest.powBits ?? options.powBits ?? devnetPowBits
  const found = await findDeployment(client, chainId, powBits)
  if (found !== undefined) log(`contracts found: token ${found.token}`)
  const deployment = found ?? (await deployAll(client, chainId, powBits, log))
  const { token, verifier } = deployment
  const proofVerifiers = proofs && (await ensureProofVerifiers({ ...proofs, client, verifier, log }))
  await fundAccounts({ client, token, payer: options.payer, native: options.fund ?? [], log })
  return { ...deployment, isNew: found === undefined, ...(proofVerifiers && { proofVerifiers }) }
}

async function deployAll(
  client: ChainClient,
  chainId: number,
  powBits: number,
  log: (line: string) => void,
): Promise<Omit<Deployment, 'isNew'>> {
  const owner = client.wallet.account.address
  const firstNonce = await nextNonce(client)
  const contracts = plannedAddresses(owner, firstNonce)
  const fromBlock = await sendSteps(client, firstNonce, steps(owner, chainId, powBits, contracts), log).catch(
    (cause: unknown) => {
      if (!/invalid ?opcode/i.test(`${cause}`)) throw cause
      throw new Error(
        'the node does not know an instruction of the contracts: its chain must be at the fork Prague or a newer one (anvil: --hardfork prague)',
        { cause },
      )
    },
  )
  return { chainId, ...contracts, fromBlock }
}

/** In the order of `plannedAddresses`, then the roles. The deployer keeps the minter's role: it is the faucet. */
function steps(
  owner: Address,
  chainId: number,
  powBits: number,
  { token, verifier, hub }: PlannedAddresses,
): Step[] {
  const { name, symbol, decimals } = devnetToken
  const info = { chainId: BigInt(chainId), eid: devnetEndpointId, verifier, token }
  return [
    {
      what: 'token deployed',
      data: encodeDeployData({
        abi: tokenAbi,
        bytecode: tokenBytecode,
        args: [name, symbol, decimals, owner],
      }),
    },
    {
      what: 'verifier deployed',
      data: encodeDeployData({
        abi: verifierAbi,
        bytecode: verifierBytecode,
        args: [token, powBits, owner, zeroAddress],
      }),
    },
    { what: 'hub deployed', data: encodeDeployData({ abi: hubAbi, bytecode: hubBytecode, args: [owner] }) },
    {
      what: 'permit burner deployed',
      data: encodeDeployData({ abi: permitBurnerAbi, bytecode: permitBurnerBytecode }),
    },
    {
      what: 'verifier role set',
      to: token,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'setVerifier', args: [verifier] }),
    },
    {
      what: 'minter role set',
      to: token,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'setMinter', args: [owner] }),
    },
    {
      what: 'token registered at the hub',
      to: hub,
      data: encodeFunctionData({ abi: hubAbi, functionName: 'registerToken', args: [info] }),
    },
    {
      what: 'hub set at the verifier',
      to: verifier,
      data: encodeFunctionData({ abi: verifierAbi, functionName: 'setHub', args: [hub] }),
    },
  ]
}
