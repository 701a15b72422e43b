import { tokenAbi } from '@svc-zerc20/contracts'
import { createSerial } from '@svc-zerc20/protocol'
import { type Address, encodeFunctionData, type Hex, parseEther, parseUnits } from 'viem'
import { type ChainClient, createChainClient } from './chain-client.js'
import { devnetToken } from './deployment.js'

/** Maximum and default amounts of one request. */
export const faucetLimits = {
  tokenUnitsMax: parseUnits('1000000', devnetToken.decimals),
  tokenUnitsDefault: parseUnits('1000', devnetToken.decimals),
  weiMax: parseEther('10'),
  weiDefault: parseEther('0.1'),
} as const

/** Gives devnet money away. Each call resolves when the transaction is mined. */
export type Faucet = {
  /** Mints tokens, in base units. */
  mintTokens(to: Address, amount: bigint): Promise<Hex>
  /** Sends native money, in wei. */
  sendNative(to: Address, wei: bigint): Promise<Hex>
}

/** Creates a faucet on any node; the key must hold the token's minter role and native money. */
export function createFaucet(options: {
  rpcUrl: string
  minter: { privateKey: Hex }
  token: Address
}): Faucet {
  return faucetOf(
    createChainClient({ rpcUrl: options.rpcUrl, privateKey: options.minter.privateKey }),
    options.token,
  )
}

/** Creates a faucet on an existing client. */
export function faucetOf(client: ChainClient, token: Address): Faucet {
  const serial = createSerial()

  async function give(what: string, call: { to: Address; value?: bigint; data?: Hex }): Promise<Hex> {
    // One after another, so that two requests at once do not get the same txNonce.
    const hash = await serial(() => client.wallet.sendTransaction({ chain: null, ...call }))
    await client.succeeded(hash, what)
    return hash
  }

  return {
    async mintTokens(to, amount) {
      assertWithin('tokens', amount, faucetLimits.tokenUnitsMax)
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, amount] })
      return give(`minting tokens to ${to}`, { to: token, data })
    },
    async sendNative(to, wei) {
      assertWithin('wei', wei, faucetLimits.weiMax)
      return give(`sending native money to ${to}`, { to, value: wei })
    },
  }
}

function assertWithin(what: string, amount: bigint, most: bigint): void {
  if (amount <= 0n || amount > most) throw new RangeError(`${what}: ${amount} is not between 1 and ${most}`)
}
