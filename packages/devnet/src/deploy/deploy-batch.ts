/** The verifier of batch mints, which a network has only when it is asked for. */
import { batchVerifierAbi, batchVerifierBytecode, keyArgument, verifierAbi } from '@svc-zerc20/contracts'
import { batchCircuit, keysOf, type Manifest } from '@svc-zerc20/zk'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  zeroAddress,
} from 'viem'
import type { ChainClient } from './chain-client.js'
import type { Step } from './send-steps.js'

type BatchOptions = {
  readonly client: ChainClient
  readonly verifier: Address
  readonly manifest: Pick<Manifest, 'circuits'>
  /** Whether batches are to be minted. */
  readonly batch?: boolean
}

/**
 * Deploys a verifier of the manifest's key and sets it, unless it is set already. A verifier of another key is taken
 * away where no batches are minted: somebody may have a key that mints without a burn.
 * @param firstNonce txNonce of the first of these steps.
 */
export async function planBatchVerifier(
  { client, verifier, manifest, batch }: BatchOptions,
  firstNonce: number,
): Promise<{ readonly address: Address | undefined; readonly steps: readonly Step[] }> {
  const { address: present, keyHash } = await readPresent(client, verifier)
  const wanted = batch ? keysOf(manifest, batchCircuit) : manifest.circuits[batchCircuit]
  if (keyHash !== undefined && keyHash === wanted?.verificationKeyHash) return { address: present, steps: [] }
  if (!batch) {
    const steps = keyHash === undefined ? [] : [setting(verifier, zeroAddress)]
    return { address: undefined, steps }
  }
  const address = getContractAddress({ from: client.wallet.account.address, nonce: BigInt(firstNonce) })
  const deployment: Step = {
    what: `verifier of ${batchCircuit} proofs deployed`,
    data: encodeDeployData({
      abi: batchVerifierAbi,
      bytecode: batchVerifierBytecode,
      args: [keyArgument(keysOf(manifest, batchCircuit).verificationKey)],
    }),
  }
  return { address, steps: [deployment, setting(verifier, address)] }
}

async function readPresent(
  { read }: ChainClient,
  verifier: Address,
): Promise<{ address?: Address; keyHash?: Hex }> {
  const address = await read.readContract({
    address: verifier,
    abi: verifierAbi,
    functionName: 'batchVerifier',
  })
  if (address === zeroAddress) return {}
  const keyHash = await read.readContract({
    address,
    abi: batchVerifierAbi,
    functionName: 'verificationKeyHash',
  })
  return { address, keyHash }
}

const setting = (to: Address, batchVerifier: Address): Step => ({
  what: batchVerifier === zeroAddress ? 'verifier of batches taken away' : 'verifier of batches set',
  to,
  data: encodeFunctionData({ abi: verifierAbi, functionName: 'setBatchVerifier', args: [batchVerifier] }),
})
