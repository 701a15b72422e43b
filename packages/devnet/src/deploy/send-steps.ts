import type { Address, Hex } from 'viem'
import type { ChainClient } from './chain-client.js'

// Calls to contracts of the same batch cannot be estimated before those exist.
const callGas = 300_000n

/** A deployment, or a call when there is a `to`. */
export type Step = { what: string; to?: Address; data: Hex }

/** The nonce that the next step gets. */
export const nextNonce = ({ read, wallet }: ChainClient): Promise<number> =>
  read.getTransactionCount({ address: wallet.account.address, blockTag: 'pending' })

/**
 * Sends everything at once with consecutive nonces, so that it takes a block or two also where blocks are slow, and
 * waits until all of it succeeded. Answers the block of the first step.
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
