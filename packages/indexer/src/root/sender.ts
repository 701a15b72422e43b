/**
 * Sends transactions of one key, one at a time. A transaction keeps its txNonce until that txNonce is used. While it is
 * unmined it is sent again with a higher price, up to the ceiling, and the receipt of any of these versions counts. A
 * transaction that an earlier run left in the pool has the same txNonce and is replaced.
 */
import {
  callAll,
  createGasPrices,
  type GasPrice,
  type GasPriceCeiling,
  type JsonRpc,
  parseCount,
  parseQuantity,
  parseReceipt,
  quantityOf,
  type Receipt,
  refusalCause,
  signTransaction,
} from '@svc-zerc20/evm'
import { type Address, type Clock, createSerial, SvcError } from '@svc-zerc20/protocol'
import type { Abi, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { decodeErrorResult, formatGwei } from 'viem/utils'

export type Sender = {
  /**
   * Resolves when the transaction is mined and succeeded. Throws `SvcError('transaction_refused')` with the contract's
   * own error when it cannot succeed, or `transaction_reverted`, `transaction_displaced` or `transaction_stuck`.
   */
  send(call: { to: Address; data: Hex }, signal: AbortSignal): Promise<Receipt>
}

type SenderLimits = {
  readonly receiptPollMs: number
  /** A transaction that stays unmined for this long is replaced by one with a higher price. */
  readonly priceBumpAfterMs: number
  readonly priceBumpsMax: number
  readonly priceBumpPercent: bigint
}

/** Creates the sender. A transaction waits until the one before it is mined. */
export function createSender(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly chainId: number
  readonly privateKey: Hex
  readonly clock: Clock
  readonly ceiling: GasPriceCeiling
  /** The ABI that names the contract's errors. */
  readonly errors: Abi
  readonly limits: SenderLimits
}): Sender {
  const { rpc, chainId, clock, errors, limits } = deps
  const account = privateKeyToAccount(deps.privateKey)
  const gasPrices = createGasPrices({
    rpc,
    clock,
    freshMs: 0,
    bumpPercent: limits.priceBumpPercent,
    ...deps.ceiling,
  })
  const receiptWithin = createReceiptWait({
    rpc,
    account: account.address,
    clock,
    pollMs: limits.receiptPollMs,
  })

  async function prepare(call: { to: Address; data: Hex }) {
    try {
      const [results, price] = await Promise.all([
        callAll(rpc, [
          { method: 'eth_estimateGas', params: [{ from: account.address, ...call }, 'latest'] },
          countCallOf(account.address),
        ]),
        gasPrices.current(),
      ])
      const gas = parseQuantity(results[0])
      const txNonce = parseCount(results[1])
      if (gas === undefined || txNonce === undefined) {
        throw new SvcError('rpc_error', 'the RPC answered with something that is no quantity')
      }
      return { gas: (gas * 5n) / 4n, txNonce, price }
    } catch (error) {
      throw inWords(error, errors)
    }
  }

  async function broadcast(raw: Hex): Promise<'sent' | 'underpriced' | 'nonce_used'> {
    try {
      await callAll(rpc, [{ method: 'eth_sendRawTransaction', params: [raw] }])
      return 'sent'
    } catch (error) {
      // The node may have received the transaction although it did not answer, so the receipt decides.
      if (!isRefusal(error)) return 'sent'
      const cause = refusalCause(error.message)
      if (cause === 'held') return 'sent'
      if (cause === 'underpriced' || cause === 'nonce_used') return cause
      throw inWords(error, errors)
    }
  }

  async function send(call: { to: Address; data: Hex }, signal: AbortSignal): Promise<Receipt> {
    const { gas, txNonce, price: first } = await prepare(call)
    const hashes: Hex[] = []
    let price: GasPrice = first
    for (let bumps = 0; bumps <= limits.priceBumpsMax && !signal.aborted; bumps++) {
      const { hash, raw } = await signTransaction(account, { chainId, txNonce, gas, ...call, price })
      const outcome = await broadcast(raw)
      if (outcome === 'sent' && !hashes.includes(hash)) hashes.push(hash)
      const higher = gasPrices.raised(price)
      if (hashes.length > 0 && (outcome !== 'underpriced' || higher === undefined)) {
        const receipt = await receiptWithin(limits.priceBumpAfterMs, { hashes, txNonce }, signal)
        if (receipt !== undefined) return receipt
      }
      if (outcome === 'nonce_used') {
        throw new SvcError('transaction_displaced', `txNonce ${txNonce} was used by another transaction`)
      }
      // At the ceiling the same transaction is sent again. Stop if an earlier run's transaction already pays more.
      if (higher === undefined && hashes.length === 0) break
      price = higher ?? price
    }
    throw new SvcError(
      'transaction_stuck',
      `txNonce ${txNonce} is still unused, with ${formatGwei(price.maxFeePerGas)} gwei offered for gas`,
    )
  }

  const inOrder = createSerial()
  return { send: (call, signal) => inOrder(() => send(call, signal)) }
}

/** One transaction in all its versions: the same txNonce with other gas prices, of which one can be mined. */
type Versions = { readonly hashes: readonly Hex[]; readonly txNonce: number }

/** Asks for the number of mined transactions of an account, which is its next txNonce. */
const countCallOf = (account: Hex) => ({
  method: 'eth_getTransactionCount',
  params: [account, 'latest'],
})

function createReceiptWait(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly account: Hex
  readonly clock: Clock
  readonly pollMs: number
}) {
  const { rpc, clock, pollMs } = deps
  const countCall = countCallOf(deps.account)

  /** Throws when no version can be mined any more. */
  async function receiptOf({ hashes, txNonce }: Versions): Promise<Receipt | undefined> {
    const asked = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
    const [used, ...receipts] = await callAll(rpc, [countCall, ...asked])
    const found = receipts.map(parseReceipt).find((receipt) => receipt !== undefined)
    if (!found) {
      if (quantityOf(countCall.method, { result: used }) >= BigInt(txNonce)) return undefined
      throw new SvcError('transaction_displaced', `a reorg took the transaction before txNonce ${txNonce}`)
    }
    if (!found.succeeded) throw new SvcError('transaction_reverted', `${found.transactionHash} reverted`)
    return found
  }

  /** Looks for a receipt until the time is up, and then gives undefined. A node that does not answer is asked again. */
  return async (waitMs: number, versions: Versions, signal: AbortSignal): Promise<Receipt | undefined> => {
    const until = clock.now() + waitMs
    while (clock.now() < until && !signal.aborted) {
      try {
        const receipt = await receiptOf(versions)
        if (receipt !== undefined) return receipt
      } catch (error) {
        if (!(error instanceof SvcError) || !error.code.startsWith('rpc_')) throw error
      }
      await clock.sleep(pollMs, signal)
    }
    return undefined
  }
}

const isRefusal = (error: unknown): error is SvcError =>
  error instanceof SvcError && error.code === 'rpc_error'

/** Names the contract's error if the node passed it on. */
function inWords(error: unknown, errors: Abi): unknown {
  if (!isRefusal(error)) return error
  const { data } = (error.cause ?? {}) as { data?: unknown }
  const revert = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  if (typeof revert !== 'string' || !/^0x[0-9a-f]{8}/i.test(revert)) {
    return new SvcError('transaction_refused', error.message, { cause: error })
  }
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: errors, data: revert as Hex })
    return new SvcError('transaction_refused', `${errorName}(${args.join(', ')})`, { cause: error })
  } catch {
    return new SvcError('transaction_refused', `${error.message} (${revert.slice(0, 10)})`, { cause: error })
  }
}
