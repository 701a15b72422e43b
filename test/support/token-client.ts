/** The token of a local network, as a test asks for balances and pays with new accounts. */
import { tokenAbi } from '@svc-zerc20/contracts'
import type { LocalNetwork } from '@svc-zerc20/devnet'
import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  parseEther,
  type Transport,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'
import { until } from './until.js'

export function createTokenClient(
  { deployment, faucet }: Pick<LocalNetwork, 'deployment' | 'faucet'>,
  transport: Transport,
) {
  const token = { address: deployment.token, abi: tokenAbi } as const
  const client = createPublicClient({ transport, cacheTime: 0 })
  const walletOf = (account: PrivateKeyAccount) => createWalletClient({ account, chain: hardhat, transport })

  /**
   * The receipt, also from a node that a test makes fail. Asked for by itself: viem waits for the next block when it looked a
   * moment too early, and no block may come.
   */
  const receiptOf = (hash: Hex) => until(() => client.getTransactionReceipt({ hash }).catch(() => undefined))

  return {
    client,
    walletOf,
    receiptOf,

    /** A new account with tokens, and with gas money when asked for. */
    async account({ tokens = 1_000_000n, gas = false } = {}): Promise<PrivateKeyAccount> {
      const account = privateKeyToAccount(generatePrivateKey())
      if (tokens > 0n) await faucet.mintTokens(account.address, tokens)
      if (gas) await faucet.sendNative(account.address, parseEther('1'))
      return account
    },

    balanceOf: (owner: Address) =>
      client.readContract({ ...token, functionName: 'balanceOf', args: [owner] }),
    permitNonce: (owner: Address) => client.readContract({ ...token, functionName: 'nonces', args: [owner] }),

    async transfer(account: PrivateKeyAccount, to: Address, amount: bigint | string): Promise<Hex> {
      const args = [to, BigInt(amount)] as const
      const hash = await walletOf(account).writeContract({ ...token, functionName: 'transfer', args })
      await receiptOf(hash)
      return hash
    },
  }
}
