/** The payer's own transfers: prepared, sent, and explained when the node refuses them. */

import { tokenAbi } from '@svc-zerc20/contracts'
import { judgeRefusal } from '@svc-zerc20/evm/refusals'
import type { Address, Hex, TxHash } from '@svc-zerc20/protocol'
import {
  BaseError,
  ExecutionRevertedError,
  encodeFunctionData,
  InsufficientFundsError,
  type PublicClient,
  RpcRequestError,
  type TransactionSerializable,
} from 'viem'
import { prepareTransactionRequest } from 'viem/actions'
import type { PayerLimits } from '../limits.js'
import { PayerError, type PayerErrorCode } from '../payer-error.js'
import type { SignedTransaction } from '../state/account-queue.js'

export type Transfer = { readonly token: Address; readonly to: Address; readonly value: bigint }

/**
 * - `sent`: the node has the transaction
 * - `refused`: the node says that it does not have the transaction, and refuses it for good. Others may have it.
 * - `unclear`: no answer came, or the error leaves open whether some node has the bytes; sending them again
 *   is safe
 */
export type Broadcast =
  | { readonly result: 'sent' }
  | { readonly result: 'refused' | 'unclear'; readonly why: string; readonly cause: unknown }

export type Transfers = {
  /** An unsigned transfer. Rejects when the transfer would fail or cost too much gas, and says why. */
  prepareTransfer(transfer: Transfer, txNonce: number): Promise<TransactionSerializable>
  /**
   * The txNonce of the next transaction, and those of the given ones that may not be mined yet. A transaction that the
   * node lacks is sent again. If it would come too late, or the node refuses it, its txNonce is used once more: of two
   * transactions with one txNonce only one can be mined.
   */
  nextTxNonce(
    signed: readonly SignedTransaction[],
    nowSeconds: number,
  ): Promise<{ readonly txNonce: number; readonly waiting: readonly SignedTransaction[] }>
  broadcast(hash: TxHash, raw: Hex): Promise<Broadcast>
  /** Whether the transaction succeeded, or undefined while there is no receipt. */
  receiptStatus(hash: TxHash): Promise<'success' | 'reverted' | undefined>
}

type TransferParts = {
  readonly payer: Address
  readonly chainId: number
  readonly checkChain: () => Promise<void>
  /** The most that the gas of one transfer may cost. */
  readonly maxGasWei: bigint
  readonly limits: Pick<PayerLimits, 'gasHeadroomPercent' | 'transferGasMax'>
}

export const createTransfers = (client: PublicClient, parts: TransferParts): Transfers => ({
  ...createPreparing(client, parts),
  ...createSending(client, parts),

  async receiptStatus(hash) {
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt === null) return undefined
    return receipt.status === '0x1' ? 'success' : 'reverted'
  },
})

function createPreparing(
  client: PublicClient,
  { payer, chainId, checkChain, maxGasWei, limits }: TransferParts,
): Pick<Transfers, 'prepareTransfer'> {
  /**
   * Why the node refuses to estimate a transfer: too few tokens, too little gas money, a revert of the token, or the
   * node's own words.
   */
  async function whyRefused({ token, to, value }: Transfer, cause: unknown): Promise<PayerError> {
    if (cause instanceof PayerError) return cause
    const what = `${value} of ${token} to ${to}`
    const failed = (code: PayerErrorCode, detail: string) =>
      new PayerError(code, `${what}: ${detail}`, { cause })
    if (!isAnswer(cause)) return failed('chain_unavailable', explain(cause))
    try {
      const [tokens, wei] = await Promise.all([
        client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [payer] }),
        client.getBalance({ address: payer }),
      ])
      if (tokens < value) return failed('no_tokens', `${payer} holds ${tokens}`)
      if (wei === 0n || isShortOfGas(cause)) return failed('no_gas', `${payer} holds ${wei} wei`)
    } catch {
      return failed('chain_unavailable', explain(cause))
    }
    return failed(isRevert(cause) ? 'transfer_reverts' : 'transfer_refused', explain(cause))
  }

  return {
    async prepareTransfer({ token, to, value }, nonce) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, value] })
      try {
        await checkChain()
        const request = await prepareTransactionRequest(client, {
          account: payer,
          chain: undefined,
          chainId,
          to: token,
          data,
          parameters: ['gas', 'fees', 'type'],
        })
        if (request.gas > BigInt(limits.transferGasMax)) {
          const beyond = `${request.gas} gas is estimated, and at most ${limits.transferGasMax} is spent`
          throw new PayerError('transfer_refused', `${value} of ${token} to ${to}: ${beyond}`)
        }
        const gas = (request.gas * BigInt(100 + limits.gasHeadroomPercent)) / 100n
        const { type, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
        const wei = gas * (maxFeePerGas ?? gasPrice ?? 0n)
        if (wei > maxGasWei) {
          const asked = `the transfer may cost ${wei} wei of gas, and at most ${maxGasWei} are spent`
          throw new PayerError('gas_exceeded', asked)
        }
        const held = await client.getBalance({ address: payer })
        if (held < wei) throw new PayerError('no_gas', `${payer} holds ${held} wei, and ${wei} may be needed`)
        const fees = type === 'legacy' ? { type, gasPrice } : { type, maxFeePerGas, maxPriorityFeePerGas }
        return { chainId, to: token, data, nonce, gas, ...fees } as TransactionSerializable
      } catch (cause) {
        throw await whyRefused({ token, to, value }, cause)
      }
    },
  }
}

function createSending(
  client: PublicClient,
  { payer, checkChain }: TransferParts,
): Pick<Transfers, 'broadcast' | 'nextTxNonce'> {
  /** One URL may stand for several nodes, and a busy node may have passed the bytes on. */
  async function judge(hash: TxHash, cause: unknown): Promise<Broadcast> {
    const unclear = { result: 'unclear', why: explain(cause), cause } as const
    if (!isAnswer(cause)) return unclear
    try {
      const known = await client.request({ method: 'eth_getTransactionByHash', params: [hash] })
      if (known !== null) return { result: 'sent' }
    } catch {
      return unclear // without an answer the transaction must be taken to exist
    }
    const refusal = refusalIn(cause)
    return refusal === 'lasting' || refusal === 'unfunded' ? { ...unclear, result: 'refused' } : unclear
  }

  async function broadcast(hash: TxHash, raw: Hex): Promise<Broadcast> {
    try {
      await client.sendRawTransaction({ serializedTransaction: raw })
      return { result: 'sent' }
    } catch (cause) {
      return judge(hash, cause)
    }
  }

  return {
    broadcast,

    async nextTxNonce(signed, nowSeconds) {
      const count = (blockTag: 'latest' | 'pending') =>
        client.getTransactionCount({ address: payer, blockTag })
      try {
        await checkChain()
        const [mined, pending] = await Promise.all([count('latest'), count('pending')])
        const waiting = signed.filter(({ txNonce }) => txNonce >= mined)
        // The newest for each txNonce: an older one was refused, or came too late.
        const newest = new Map(waiting.map((each) => [each.txNonce, each]))
        const unseen = [...newest.values()].filter(({ txNonce }) => txNonce >= pending)
        for (const { txNonce, hash, raw, expiresAt } of unseen.sort((a, b) => a.txNonce - b.txNonce)) {
          const isLate = expiresAt <= nowSeconds
          if (isLate || (await broadcast(hash, raw)).result === 'refused') return { txNonce, waiting }
        }
        return { txNonce: Math.max(pending, ...unseen.map(({ txNonce }) => txNonce + 1)), waiting }
      } catch (cause) {
        throw unavailable(`the next txNonce of ${payer} could not be read`, cause)
      }
    },
  }
}

/** Whether the node itself answered with an error. False when no answer came. */
const isAnswer = (cause: unknown): cause is BaseError =>
  cause instanceof BaseError && cause.walk((e) => e instanceof RpcRequestError) !== null

/** The node's error, judged by its message: whether the same bytes may be sent again. */
function refusalIn(cause: BaseError): ReturnType<typeof judgeRefusal> {
  const said = cause.walk((e) => e instanceof RpcRequestError) as RpcRequestError | null
  return judgeRefusal(said?.details ?? '')
}

const isRevert = (cause: BaseError) => cause.walk((e) => e instanceof ExecutionRevertedError) !== null

const isShortOfGas = (cause: BaseError) =>
  cause.walk((e) => e instanceof InsufficientFundsError) !== null || refusalIn(cause) === 'unfunded'

export function unavailable(detail: string, cause: unknown): PayerError {
  if (cause instanceof PayerError) return cause
  return new PayerError('chain_unavailable', `${detail}: ${explain(cause)}`, { cause })
}

/** A failure in short. The full message contains the endpoint's URL, which may hold a key. */
function explain(cause: unknown): string {
  if (!(cause instanceof BaseError)) return 'the request failed'
  const { details } = cause
  const short = cause.shortMessage.replace(/\.$/, '')
  return details ? `${short} (${details})` : short
}
