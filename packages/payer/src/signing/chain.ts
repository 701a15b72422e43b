/** Everything the payer asks of its RPC endpoint. */
import { tokenAbi } from '@svc-zerc20/contracts'
import { type Address, type Clock, inTime, inTokens, type TokenLabel } from '@svc-zerc20/protocol'
import { createPublicClient } from 'viem'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import type { Policy } from '../policy/policy.js'
import type { PermitFacts } from '../state/permit-nonces.js'
import { type Burns, createBurns } from './burns.js'
import { createRpc } from './rpc.js'
import { createTransfers, type Transfers, unavailable } from './transfers.js'

export type PayerChain = Transfers &
  Burns & {
    /** The token's name, and the payer's live permit nonce and balance, in one round trip. */
    permitFacts(token: Address): Promise<PermitFacts>
    /** The code of an account, `0x` when it has none. */
    codeAt(address: Address): Promise<string>
    readNewestBlock(): Promise<{ readonly timestamp: bigint }>
    balanceOf(token: Address, owner: Address): Promise<bigint>
    /** An amount in tokens, as `1.5 USDC`. Undefined when the token does not tell, or not soon: nobody waits for a label. */
    inTokens(token: Address, amount: bigint): Promise<string | undefined>
  }

export function createPayerChain({
  rpcUrl,
  chainId,
  payer,
  policy,
  isReplaced,
  clock,
  limits,
}: {
  readonly rpcUrl: string
  readonly chainId: number
  readonly payer: Address
  readonly policy: Pick<Policy, 'maxGasWei'>
  readonly isReplaced: Parameters<typeof createBurns>[1]['isReplaced']
  readonly clock: Clock
  readonly limits: PayerLimits
}): PayerChain {
  const client = createPublicClient({ transport: createRpc({ rpcUrl, clock, limits }) })
  const tokenNames = new Map<Address, string>()
  const labels = new Map<Address, TokenLabel>()
  let chainChecked = false

  async function checkChain(): Promise<void> {
    if (chainChecked) return
    const served = await client.getChainId()
    if (served !== chainId) throw new PayerError('wrong_chain', `the endpoint serves chain ${served}`)
    chainChecked = true
  }

  async function readName(token: Address): Promise<string> {
    const known = tokenNames.get(token)
    if (known !== undefined) return known
    const name = await client.readContract({ address: token, abi: tokenAbi, functionName: 'name' })
    tokenNames.set(token, name)
    return name
  }

  async function readLabel(token: Address): Promise<TokenLabel> {
    await checkChain()
    const read = { address: token, abi: tokenAbi } as const
    const [symbol, decimals] = await Promise.all([
      client.readContract({ ...read, functionName: 'symbol' }),
      client.readContract({ ...read, functionName: 'decimals' }),
    ])
    const label = { symbol, decimals }
    labels.set(token, label)
    return label
  }

  return {
    ...createTransfers(client, { payer, chainId, checkChain, maxGasWei: policy.maxGasWei, limits }),
    ...createBurns(client, { checkChain, payer, isReplaced, clock, limits }),

    async permitFacts(token) {
      // Started together, so the transport sends them as one JSON-RPC batch.
      const reads = [
        checkChain(),
        readName(token),
        client.readContract({ address: token, abi: tokenAbi, functionName: 'nonces', args: [payer] }),
        client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [payer] }),
      ] as const
      try {
        const [, tokenName, nonce, balance] = await Promise.all(reads)
        return { tokenName, nonce, balance }
      } catch (cause) {
        throw unavailable(`name, nonces and balance of ${token} could not be read`, cause)
      }
    },

    async codeAt(address) {
      try {
        const [, code] = await Promise.all([checkChain(), client.getCode({ address })])
        return code ?? '0x'
      } catch (cause) {
        throw unavailable(`the code of ${address} could not be read`, cause)
      }
    },

    async balanceOf(token, owner) {
      await checkChain()
      return client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
    },

    async inTokens(token, amount) {
      try {
        const label = labels.get(token) ?? (await inTime(readLabel(token), limits.labelMsMax, clock))
        return label === 'late' ? undefined : inTokens(amount, label)
      } catch {
        return undefined
      }
    },

    readNewestBlock: () => client.getBlock({ blockTag: 'latest' }),
  }
}
