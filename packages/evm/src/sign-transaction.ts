/** Signs a transaction of one key. Its hash is known before anybody has seen it, so that it can be recorded first. */
import { type Address, parseTxHash, SvcError, type TxHash } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { keccak256 } from 'viem/utils'
import type { GasPrice } from './gas-prices.js'

export async function signTransaction(
  account: Pick<PrivateKeyAccount, 'signTransaction'>,
  transaction: {
    readonly chainId: number
    readonly txNonce: number
    readonly to: Address
    readonly data: Hex
    readonly gas: bigint
    readonly price: GasPrice
  },
): Promise<{ readonly hash: TxHash; readonly raw: Hex }> {
  const { chainId, txNonce: nonce, to, data, gas, price } = transaction
  const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, to, data, gas, ...price })
  const hash = parseTxHash(keccak256(raw))
  if (hash === undefined) throw new SvcError('invariant', 'a signed transaction has no hash')
  return { hash, raw }
}
