/**
 * One key, one transaction at a time. A transaction keeps its nonce until that nonce is used: unmined, it is sent
 * again with a higher fee up to the ceiling, and the receipt of any of its forms counts. What an earlier run left in the pool has the
 * same nonce and is replaced.
 */
import { verifierAbi } from '@svc-zerc20/contracts'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { decodeErrorResult, formatGwei, type Hex, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import type { Clock } from '../clock.js'
import type { JsonRpc } from '../json-rpc.js'
import { limits } from '../limits.js'
import { quantity } from '../transfer-log.js'
import { dueFees, type FeeCeiling, fallbackTip, raisedFees } from './fees.js'

export type Receipt = { readonly transactionHash: string; readonly gasUsed: bigint }

export type Transactions = {
  /**
   * Resolves once it is mined and succeeded. Throws `SvcError('transaction_refused')` with the contract's own error
   * when it could not succeed, `transaction_reverted`, `transaction_displaced` or `transaction_stuck`.
   */
  send(call: { to: Address; data: Hex }, signal: AbortSignal): Promise<Receipt>
}

/** Creates the sender. Callers wait for one transaction before they send the next. */
export function createTransactions(deps: {
  rpc: JsonRpc
  chainId: number
  privateKey: Hex
  clock: Clock
  ceiling: FeeCeiling
}): Transactions {
  const { rpc, chainId, clock, ceiling } = deps
  const account = privateKeyToAccount(deps.privateKey)

  async function prepare(call: { to: Address; data: Hex }) {
    try {
      const [[gas, nonce, block], tip] = await Promise.all([
        rpc.batch([
          { method: 'eth_estimateGas', params: [{ from: account.address, ...call }, 'latest'] },
          { method: 'eth_getTransactionCount', params: [account.address, 'latest'] },
          { method: 'eth_getBlockByNumber', params: ['latest', false] },
        ]),
        suggestedTip(),
      ])
      const fees = dueFees(blockShape.parse(block).baseFeePerGas, tip, ceiling)
      return { gas: (amount.parse(gas) * 5n) / 4n, nonce: quantity.parse(nonce), fees }
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** Nodes without the method get the usual tip. */
  async function suggestedTip(): Promise<bigint> {
    try {
      return amount.parse(await rpc.call('eth_maxPriorityFeePerGas', []))
    } catch (error) {
      if (error instanceof SvcError && error.code === 'rpc_error') return fallbackTip
      throw error
    }
  }

  async function broadcast(raw: Hex): Promise<'sent' | 'underpriced' | 'nonce_used'> {
    try {
      await rpc.call('eth_sendRawTransaction', [raw])
      return 'sent'
    } catch (error) {
      // A node that did not answer may have it all the same: its receipt decides.
      if (!(error instanceof SvcError) || error.code !== 'rpc_error') return 'sent'
      if (/already known|already in|known transaction/i.test(error.message)) return 'sent'
      if (/underpriced|fee too low|replacement/i.test(error.message)) return 'underpriced'
      if (/nonce.*(?:too low|already)/i.test(error.message)) return 'nonce_used'
      throw refusalOf(error)
    }
  }

  /** The receipt of any form; throws when no form can get one any more. */
  async function receiptOf(hashes: readonly Hex[], nonce: number): Promise<Receipt | undefined> {
    const asked = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
    const [used, ...answers] = await rpc.batch([
      { method: 'eth_getTransactionCount', params: [account.address, 'latest'] },
      ...asked,
    ])
    const found = answers.map((raw) => receiptShape.parse(raw)).find((receipt) => receipt !== null)
    if (!found) {
      if (quantity.parse(used) >= nonce) return undefined
      throw new SvcError('transaction_displaced', `a reorg took the transaction before nonce ${nonce}`)
    }
    const { transactionHash, gasUsed, status } = found
    if (status === 0) throw new SvcError('transaction_reverted', `${transactionHash} reverted`)
    return { transactionHash, gasUsed }
  }

  /** Looks for a receipt until it is time to raise the fee. A node that does not answer is asked again. */
  async function receiptWithin(
    hashes: readonly Hex[],
    nonce: number,
    signal: AbortSignal,
  ): Promise<Receipt | undefined> {
    const until = clock.now() + limits.feeBumpAfterMs
    while (clock.now() < until && !signal.aborted) {
      try {
        const receipt = await receiptOf(hashes, nonce)
        if (receipt !== undefined) return receipt
      } catch (error) {
        if (!(error instanceof SvcError) || !error.code.startsWith('rpc_')) throw error
      }
      await clock.sleep(limits.receiptPollMs, signal)
    }
    return undefined
  }

  return {
    async send(call, signal) {
      const { gas, nonce, fees: first } = await prepare(call)
      const hashes: Hex[] = []
      let fees = first
      for (let bumps = 0; bumps <= limits.feeBumpsMax && !signal.aborted; bumps++) {
        const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, gas, ...call, ...fees })
        const outcome = await broadcast(raw)
        const hash = keccak256(raw)
        if (outcome === 'sent' && !hashes.includes(hash)) hashes.push(hash)
        const higher = raisedFees(fees, ceiling)
        if (hashes.length > 0 && (outcome !== 'underpriced' || higher === undefined)) {
          const receipt = await receiptWithin(hashes, nonce, signal)
          if (receipt !== undefined) return receipt
        }
        if (outcome === 'nonce_used') {
          throw new SvcError('transaction_displaced', `nonce ${nonce} was used by another transaction`)
        }
        // At the ceiling the same transaction is sent again, unless the pool holds one that pays more.
        if (higher === undefined && hashes.length === 0) break
        fees = higher ?? fees
      }
      throw new SvcError(
        'transaction_stuck',
        `nonce ${nonce} is still unused, with ${formatGwei(fees.maxFeePerGas)} gwei offered for gas`,
      )
    },
  }
}

const amount = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform(BigInt)

/** Chains without EIP-1559's base fee leave it out. */
const blockShape = z.object({ baseFeePerGas: amount.default(0n) })

const receiptShape = z.object({ transactionHash: z.string(), gasUsed: amount, status: quantity }).nullable()

/** Puts the contract's own error into words, when the node passed it on. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.code !== 'rpc_error') return error
  const { data } = (error.cause ?? {}) as { data?: unknown }
  const revert = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  if (typeof revert !== 'string' || !/^0x[0-9a-f]{8}/i.test(revert)) {
    return new SvcError('transaction_refused', error.message, { cause: error })
  }
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: verifierAbi, data: revert as Hex })
    return new SvcError('transaction_refused', `${errorName}(${args.join(', ')})`, { cause: error })
  } catch {
    return new SvcError('transaction_refused', `${error.message} (${revert.slice(0, 10)})`, { cause: error })
  }
}
