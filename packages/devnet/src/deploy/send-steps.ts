import type { Address, Hex } from 'viem'
import type { ChainClient } from './chain-client.js'

// A fixed amount, because gas cannot be estimated for contracts that the same batch is still deploying.
const callGas = 300_000n

/** A deployment, or a call when there is a `to`. */
export type Step = { what: string; to?: Address; data: Hex }

/** The txNonce of the next step. */
export const nextNonce = ({ read, wallet }: ChainClient): Promise<number> =>
  read.getTransactionCount({ address: wallet.account.address, blockTag: 'pending' })

/**
 * Sends all steps at once with consecutive txNonces, so that they take a block or two even on a slow chain, and waits
 * until all succeeded. Returns the block of the first step.
 */
export async function sendSteps(
  client: ChainClient,
  firstNonce: number,
  steps: readonly Step[],
  log: (line: string) => void,
): Promise<bigint> {
  const account = client.wallet.account.address
  const fees = await client.read.estimateFeesPerGas()
  const hashes: { what: string; hash: Hex }[] = []
  for (const [offset, { what, ...call }] of steps.entries()) {
    const gas = call.to === undefined ? await client.read.estimateGas({ account, ...call }) : callGas
    const nonce = firstNonce + offset
    hashes.push({
      what,
      hash: await client.wallet.sendTransaction({ chain: null, nonce, gas, ...fees, ...call }),
    })
  }
  let firstBlock: bigint | undefined
  for (const { what, hash } of hashes) {
    const receipt = await client.succeeded(hash, what)
    firstBlock ??= receipt.blockNumber
    log(`${what}${receipt.contractAddress ? ` at ${receipt.contractAddress}` : ''}`)
  }
  return firstBlock ?? 0n
}
