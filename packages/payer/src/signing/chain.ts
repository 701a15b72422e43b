/** Everything the payer asks of its RPC endpoint. */
import type { Address, TokenLabel } from '@svc-zerc20/protocol'
import { createPublicClient, http } from 'viem'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import type { Policy } from '../policy/policy.js'
import type { BlockTime } from './block-time.js'
import { createIsBurn, type IsBurn } from './burn-receipt.js'
import { type BurnReads, createBurnReads } from './burn-state.js'
import type { PermitFacts } from './permit-nonces.js'
import { unavailable } from './rpc-failure.js'
import { tokenAbi } from './token-abi.js'
import { createTransfers, type Transfers } from './transfers.js'

export type PayerChain = Transfers &
  BurnReads & {
    /** The token's name, and the payer's live permit nonce and balance, in one round trip. */
    permitFacts(token: Address): Promise<PermitFacts>
    /** The code of an account, `0x` when it has none. */
    codeAt(address: Address): Promise<string>
    readBlock(number: bigint | 'latest'): Promise<BlockTime>
    balanceOf(token: Address, owner: Address): Promise<bigint>
    /** The token's own symbol and decimals. */
    tokenLabel(token: Address): Promise<TokenLabel>
    /** Whether a transaction is the burn of a payment. */
    readonly isBurn: IsBurn
  }

export function createPayerChain({
  rpcUrl,
  chainId,
  payer,
  policy,
  limits,
}: {
  readonly rpcUrl: string
  readonly chainId: number
  readonly payer: Address
  readonly policy: Pick<Policy, 'maxGasWei'>
  readonly limits: Pick<
    PayerLimits,
    'rpcTimeoutMs' | 'rpcRetriesMax' | 'gasHeadroomPercent' | 'transferGasMax' | 'settledBlocks'
  >
}): PayerChain {
  const transport = http(rpcUrl, {
    batch: true,
    timeout: limits.rpcTimeoutMs,
    retryCount: limits.rpcRetriesMax,
  })
  const client = createPublicClient({ transport })
  const tokenNames = new Map<Address, string>()
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

  return {
    ...createTransfers(client, { payer, chainId, checkChain, maxGasWei: policy.maxGasWei, limits }),
    ...createBurnReads(client, checkChain, limits),

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

    async tokenLabel(token) {
      await checkChain()
      const read = { address: token, abi: tokenAbi } as const
      const [symbol, decimals] = await Promise.all([
        client.readContract({ ...read, functionName: 'symbol' }),
        client.readContract({ ...read, functionName: 'decimals' }),
      ])
      return { symbol, decimals }
    },

    isBurn: createIsBurn(client, checkChain),

    async readBlock(number) {
      const block =
        number === 'latest'
          ? await client.getBlock({ blockTag: 'latest' })
          : await client.getBlock({ blockNumber: number })
      return { number: block.number ?? 0n, timestamp: block.timestamp }
    },
  }
}
