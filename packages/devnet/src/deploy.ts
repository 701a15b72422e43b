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
import { type Address, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { type ChainClient, createChainClient } from './chain-client.js'
import {
  type Deployment,
  devnetEndpointId,
  devnetToken,
  type PlannedAddresses,
  plannedAddresses,
} from './deployment.js'
import { findDeployment } from './find-deployment.js'
import { fundAccounts } from './fund.js'

// Calls to contracts of the same batch cannot be estimated before those exist.
const callGas = 300_000n

/**
 * Deploys all contracts to any node and funds the accounts. Everything is sent at once with consecutive
 * nonces, so it takes a block or two also where blocks are slow. When the deployer's first transactions on
 * this chain deployed the same contracts already, those are taken as they are.
 */
export async function deployContracts(options: {
  rpcUrl: string
  deployer: { privateKey: Hex }
  /** Gets tokens and native money. */
  payer: Address
  /** Get native money when they have too little. */
  fund?: readonly Address[]
  log?: (line: string) => void
}): Promise<Deployment> {
  const { log = () => undefined } = options
  const client = createChainClient({ rpcUrl: options.rpcUrl, privateKey: options.deployer.privateKey })
  const chainId = await client.read.getChainId()
  const found = await findDeployment(client, chainId)
  if (found !== undefined) log(`contracts found: token ${found.token}`)
  const deployment = found ?? (await deployAll(client, chainId, log))
  await fundAccounts({
    client,
    token: deployment.token,
    payer: options.payer,
    native: options.fund ?? [],
    log,
  })
  return deployment
}

async function deployAll(
  client: ChainClient,
  chainId: number,
  log: (line: string) => void,
): Promise<Deployment> {
  const owner = client.wallet.account.address
  const firstNonce = await client.read.getTransactionCount({ address: owner, blockTag: 'pending' })
  const contracts = plannedAddresses(owner, firstNonce)
  const hashes: { what: string; hash: Hex }[] = []
  const fees = await client.read.estimateFeesPerGas()
  for (const [offset, { what, ...call }] of steps(owner, chainId, contracts).entries()) {
    const gas = call.to === undefined ? await client.read.estimateGas({ account: owner, ...call }) : callGas
    const nonce = firstNonce + offset
    hashes.push({
      what,
      hash: await client.wallet.sendTransaction({ chain: null, nonce, gas, ...fees, ...call }),
    })
  }
  let fromBlock: bigint | undefined
  for (const { what, hash } of hashes) {
    const receipt = await client.succeeded(hash, what)
    fromBlock ??= receipt.blockNumber
    log(`${what}${receipt.contractAddress ? ` at ${receipt.contractAddress}` : ''}`)
  }
  return { chainId, ...contracts, fromBlock: fromBlock ?? 0n }
}

type Step = { what: string; to?: Address; data: Hex }

/** In the order of `plannedAddresses`, then the roles. The deployer keeps the minter's role: it is the faucet. */
function steps(owner: Address, chainId: number, { token, verifier, hub }: PlannedAddresses): Step[] {
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
      data: encodeDeployData({ abi: verifierAbi, bytecode: verifierBytecode, args: [token, owner] }),
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
  ]
}
