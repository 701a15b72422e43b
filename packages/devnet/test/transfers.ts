import { type Address, type Hex, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { developmentRoles, spareAccounts } from '../src/node/accounts.js'

/** Recipient of test transfers: an account that sends nothing itself. */
export const recipient: Address = spareAccounts[10]?.address ?? '0x'

const payer = privateKeyToAccount(developmentRoles.payer.privateKey)

/** A signed transfer of 1 wei by the payer. */
export function transfer(
  nonce: number,
  options: { maxFeeGwei?: string; to?: Address; value?: bigint } = {},
): Promise<Hex> {
  const fee = parseGwei(options.maxFeeGwei ?? '10')
  return payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce,
    to: options.to ?? recipient,
    value: options.value ?? 1n,
    gas: 21_000n,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee / 10n,
  })
}

/** Signed transfers with consecutive txNonces. */
export function transfers(firstNonce: number, count: number): Promise<Hex[]> {
  return Promise.all(Array.from({ length: count }, (_, offset) => transfer(firstNonce + offset)))
}
