import { tokenAbi } from '@svc-zerc20/contracts'
import { type Address, isAddressEqual, parseEther } from 'viem'
import type { ChainClient } from './chain-client.js'
import { faucetLimits, faucetOf } from './faucet.js'

const nativeWeiMin = parseEther('1')

/** Tops up accounts: the payer with tokens, everyone with native money. An account that has enough gets nothing. */
export async function fundAccounts(options: {
  client: ChainClient
  token: Address
  payer: Address
  native: readonly Address[]
  log: (line: string) => void
}): Promise<void> {
  const { client, token, payer, log } = options
  const faucet = faucetOf(client, token)
  const held = await client.read.readContract({
    address: token,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [payer],
  })
  const gifts: Promise<unknown>[] = []
  if (held < faucetLimits.tokenUnitsMax) {
    gifts.push(faucet.mintTokens(payer, faucetLimits.tokenUnitsMax - held))
    log(`minting tokens to the payer ${payer}`)
  }
  for (const address of [payer, ...options.native]) {
    // The sender does not fund itself.
    if (isAddressEqual(address, client.wallet.account.address)) continue
    if ((await client.read.getBalance({ address })) >= nativeWeiMin) continue
    gifts.push(faucet.sendNative(address, nativeWeiMin))
    log(`sending native money to ${address}`)
  }
  await Promise.all(gifts)
}
