// A token with verifier and hub on a test chain, wired the way a deployment is, and what happens on it in words.
import {
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeErrorResult,
  type Hex,
  RpcRequestError,
  zeroAddress,
} from 'viem'
import {
  batchVerifierAbi,
  batchVerifierBytecode,
  encodeRootProof,
  hubAbi,
  hubBytecode,
  type KeyWords,
  keyArgument,
  type RootProof,
  rootVerifierAbi,
  rootVerifierBytecode,
  type Transfer,
  tokenAbi,
  verifierAbi,
  verifierBytecode,
  withdrawVerifierAbi,
  withdrawVerifierBytecode,
} from '../../index.js'
import { deployToken } from './burns.js'
import type { Chain } from './chain.js'

const eid = 7

/** One key for each circuit. */
export type Keys = {
  readonly withdrawLocal: KeyWords
  readonly withdrawGlobal: KeyWords
  readonly root16: KeyWords
  readonly root64: KeyWords
  readonly batch?: KeyWords
}

export type Zerc20 = Awaited<ReturnType<typeof deployZerc20>>

type Contracts = {
  readonly token: Address
  readonly verifier: Address
  readonly hub: Address
  readonly proofVerifiers: ProofVerifiers
}

type ProofVerifiers = Readonly<Record<'local' | 'global' | 'root16' | 'root64', Address>> & {
  readonly batch: Address | undefined
}

/** Deploys everything; the operator owns it, mints, and may prove roots. */
export async function deployZerc20(chain: Chain, keys: Keys, powBits: number) {
  const { client, mined, deploy, operator } = chain
  const token = await deployToken(chain, 'Proof zUSD')
  const verifier = await deploy(verifierAbi, verifierBytecode, [
    token,
    powBits,
    operator.address,
    zeroAddress,
  ])
  const hub = await deploy(hubAbi, hubBytecode, [operator.address])
  const withdraw = (key: KeyWords) =>
    deploy(withdrawVerifierAbi, withdrawVerifierBytecode, [keyArgument(key)])
  const root = (key: KeyWords, batch: number) =>
    deploy(rootVerifierAbi, rootVerifierBytecode, [keyArgument(key), batch])
  const [local, global] = [await withdraw(keys.withdrawLocal), await withdraw(keys.withdrawGlobal)]
  const [root16, root64] = [await root(keys.root16, 16), await root(keys.root64, 64)]
  const batch =
    keys.batch && (await deploy(batchVerifierAbi, batchVerifierBytecode, [keyArgument(keys.batch)]))

  const contracts = { token, verifier, hub, proofVerifiers: { local, global, root16, root64, batch } }
  await takeOver(chain, contracts)
  const onHub = { address: hub, abi: hubAbi } as const
  const info = { chainId: BigInt(client.chain.id), eid, verifier, token }
  await mined(await client.writeContract({ ...onHub, functionName: 'registerToken', args: [info] }))
  return onContracts(chain, contracts)
}

/** Replaces the verifier by a new one that counts on from it. Roots are proved again there. */
export async function succeed(
  chain: Chain,
  { token, verifier, hub, proofVerifiers }: Contracts,
  powBits: number,
) {
  const args = [token, powBits, chain.operator.address, verifier]
  const next = await chain.deploy(verifierAbi, verifierBytecode, args)
  const contracts = { token, verifier: next, hub, proofVerifiers }
  await takeOver(chain, contracts)
  return onContracts(chain, contracts)
}

/** Makes a verifier the one of the token. */
async function takeOver({ client, mined, operator }: Chain, contracts: Contracts) {
  const { token, verifier, hub, proofVerifiers } = contracts
  const { local, global, root16, root64, batch } = proofVerifiers
  const onVerifier = { address: verifier, abi: verifierAbi } as const
  const onToken = { address: token, abi: tokenAbi } as const
  for (const hash of [
    await client.writeContract({ ...onToken, functionName: 'setVerifier', args: [verifier] }),
    await client.writeContract({
      ...onVerifier,
      functionName: 'setVerifiers',
      args: [root64, zeroAddress, zeroAddress, global, local],
    }),
    await client.writeContract({ ...onVerifier, functionName: 'setRootVerifier', args: [root16] }),
    await client.writeContract({
      ...onVerifier,
      functionName: 'setAllowedProver',
      args: [operator.address],
    }),
    await client.writeContract({ ...onVerifier, functionName: 'setHub', args: [hub] }),
    await client.writeContract({
      ...onVerifier,
      functionName: 'setBatchVerifier',
      args: [batch ?? zeroAddress],
    }),
  ]) {
    await mined(hash)
  }
}

function onContracts({ client, mined, operator }: Chain, contracts: Contracts) {
  const { token, verifier, hub } = contracts
  const onVerifier = { address: verifier, abi: verifierAbi } as const
  const onHub = { address: hub, abi: hubAbi } as const
  const onToken = { address: token, abi: tokenAbi } as const
  return {
    ...contracts,
    mint: async (to: Address, value: bigint): Promise<Transfer> => {
      await mined(await client.writeContract({ ...onToken, functionName: 'mint', args: [to, value] }))
      return { from: zeroAddress, to, value }
    },
    transfer: async (to: Address, value: bigint): Promise<Transfer> => {
      await mined(await client.writeContract({ ...onToken, functionName: 'transfer', args: [to, value] }))
      return { from: operator.address, to, value }
    },
    balanceOf: (account: Address) =>
      client.readContract({ ...onToken, functionName: 'balanceOf', args: [account] }),
    reserve: async () =>
      mined(await client.writeContract({ ...onVerifier, functionName: 'reserveHashChain' })),
    proveRoot: async (claim: RootProof) =>
      mined(
        await client.writeContract({
          ...onVerifier,
          functionName: 'proveTransferRoot',
          args: [encodeRootProof(claim)],
        }),
      ),
    singleTeleport: async (mint: Mint) =>
      mined(
        await client.writeContract({
          ...onVerifier,
          functionName: 'singleTeleport',
          args: [mint.isGlobal, mint.rootHint, mint.gr, mint.proof],
        }),
      ),
    /** Sent by the operator, or by an account that the chain signs for. */
    batchTeleport: async (mint: BatchMint, account?: Address) =>
      mined(
        await client.writeContract({
          ...onVerifier,
          functionName: 'batchTeleport',
          args: batchArguments(mint),
          ...(account && { account }),
        }),
      ),
    refusalOfBatch: (mint: BatchMint, account?: Address) =>
      errorName(
        client.simulateContract({
          ...onVerifier,
          functionName: 'batchTeleport',
          args: batchArguments(mint),
          ...(account && { account }),
        }),
      ),
    /** Name of the error that a claim about a root is refused with; undefined when it is not. */
    refusalOfRoot: (claim: RootProof) =>
      errorName(
        client.simulateContract({
          ...onVerifier,
          functionName: 'proveTransferRoot',
          args: [encodeRootProof(claim)],
        }),
      ),
    refusalOfMint: ({ isGlobal, rootHint, gr, proof }: Mint) =>
      errorName(
        client.simulateContract({
          ...onVerifier,
          functionName: 'singleTeleport',
          args: [isGlobal, rootHint, gr, proof],
        }),
      ),
    read: <Name extends VerifierView>(functionName: Name, args?: VerifierArgs<Name>) =>
      client.readContract({ ...onVerifier, functionName, args } as never) as Promise<VerifierAnswer<Name>>,
    setRootVerifier: async (rootVerifier: Address) =>
      mined(
        await client.writeContract({ ...onVerifier, functionName: 'setRootVerifier', args: [rootVerifier] }),
      ),
    /** A call by the owner, for example against a bad root. */
    asOwner: async <Name extends OwnerCall>(functionName: Name, args?: OwnerArgs<Name>) =>
      mined(await client.writeContract({ ...onVerifier, functionName, args } as never)),
    relay: async () =>
      mined(await client.writeContract({ ...onVerifier, functionName: 'relayTransferRoot', args: ['0x'] })),
    /** Without endpoints the hub aggregates and tells nobody. */
    broadcast: async (eids: readonly number[] = [eid]) =>
      mined(await client.writeContract({ ...onHub, functionName: 'broadcast', args: [eids, '0x'] })),
    refusalOfBroadcast: () =>
      errorName(client.simulateContract({ ...onHub, functionName: 'broadcast', args: [[eid], '0x'] })),
    hubLeaf: () => client.readContract({ ...onHub, functionName: 'transferRoots', args: [0n] }),
    aggSeq: () => client.readContract({ ...onHub, functionName: 'aggSeq' }),
  }
}

type VerifierView = ContractFunctionName<typeof verifierAbi, 'view'>
type VerifierArgs<Name extends VerifierView> = ContractFunctionArgs<typeof verifierAbi, 'view', Name>
type VerifierAnswer<Name extends VerifierView> = ContractFunctionReturnType<typeof verifierAbi, 'view', Name>

type OwnerCall =
  | 'activateEmergency'
  | 'deactivateEmergency'
  | 'removeAllowedProver'
  | 'revokeRoot'
  | 'setAllowedProver'
  | 'setBatchVerifier'
type OwnerArgs<Name extends OwnerCall> = ContractFunctionArgs<typeof verifierAbi, 'nonpayable', Name>

async function errorName(attempt: Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt
    return undefined
  } catch (error) {
    const failed = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError)
    if (!(failed instanceof RpcRequestError)) throw error
    // The engine puts the revert's bytes one level deeper than a node does.
    const { data } = failed.data as { data: Hex }
    return decodeErrorResult({ abi: verifierAbi, data }).errorName
  }
}

/** Arguments of `batchTeleport`. */
export type BatchMint = Pick<Mint, 'rootHint' | 'gr'> & {
  readonly start: number
  readonly end: number
  readonly value: bigint
  /** Eight words. */
  readonly proof: readonly bigint[]
}

const batchArguments = ({ rootHint, gr, start, end, value, proof }: BatchMint) =>
  [rootHint, gr, start, end, value, proof as unknown as EightWords] as const

type EightWords = readonly [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint]

/** Arguments of `singleTeleport`. */
export type Mint = {
  readonly isGlobal: boolean
  readonly rootHint: bigint
  readonly gr: { readonly chainId: bigint; readonly recipient: Hex; readonly tweak: Hex }
  readonly proof: Hex
}
