/** The payer's own transfers: prepared, sent, and explained when the node refuses them. */
import type { Address, Hex, TxHash } from '@svc-zerc20/protocol'
import { encodeFunctionData, type PublicClient, type TransactionSerializable } from 'viem'
import { prepareTransactionRequest } from 'viem/actions'
import type { PayerLimits } from '../limits.js'
import { PayerError, type PayerErrorCode } from '../payer-error.js'
import { explain, isAnswer, isRevert, isShortOfGas, refusalIn } from './rpc-failure.js'
import { tokenAbi } from './token-abi.js'

export type Transfer = { readonly token: Address; readonly to: Address; readonly value: bigint }

/**
 * - `sent`: the node has the transaction
 * - `refused`: the node does not have the transaction, and refuses it for good
 * - `unclear`: no answer came, or the error leaves open whether some node has the bytes; sending them again
 *   is safe
 */
export type Broadcast =
  | { readonly result: 'sent' }
  | { readonly result: 'refused' | 'unclear'; readonly why: string; readonly cause: unknown }

export type Transfers = {
  /** An unsigned transfer with the account's next nonce. Rejects when the transfer would fail, and says why. */
  prepareTransfer(transfer: Transfer): Promise<TransactionSerializable>
  /**
   * Why the node refuses a transfer: too few tokens, too little gas money, a revert of the token, or the
   * node's own words.
   */
  whyRefused(transfer: Transfer, cause: unknown): Promise<PayerError>
  broadcast(hash: TxHash, raw: Hex): Promise<Broadcast>
  /** Whether the transaction succeeded, or undefined while there is no receipt. */
  receiptStatus(hash: TxHash): Promise<'success' | 'reverted' | undefined>
}

export function createTransfers(
  client: PublicClient,
  {
    payer,
    chainId,
    checkChain,
    limits,
  }: {
    readonly payer: Address
    readonly chainId: number
    readonly checkChain: () => Promise<void>
    readonly limits: Pick<PayerLimits, 'gasHeadroomPercent' | 'transferGasMax'>
  },
): Transfers {
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

  /**
   * Refused means that the node does not have the bytes and refuses them for good. In all other cases the
   * transaction may still be mined: one URL may stand for several nodes, and a busy node may have passed the
   * bytes on.
   */
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

  return {
    whyRefused,

    async prepareTransfer({ token, to, value }) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, value] })
      try {
        await checkChain()
        const request = await prepareTransactionRequest(client, {
          account: payer,
          chain: undefined,
          chainId,
          to: token,
          data,
          parameters: ['nonce', 'gas', 'fees', 'type'],
        })
        if (request.gas > BigInt(limits.transferGasMax)) {
          const beyond = `${request.gas} gas is estimated, and at most ${limits.transferGasMax} is spent`
          throw new PayerError('transfer_refused', `${value} of ${token} to ${to}: ${beyond}`)
        }
        const gas = (request.gas * BigInt(100 + limits.gasHeadroomPercent)) / 100n
        const { nonce, type, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
        const fees = type === 'legacy' ? { type, gasPrice } : { type, maxFeePerGas, maxPriorityFeePerGas }
        return { chainId, to: token, data, nonce, gas, ...fees } as TransactionSerializable
      } catch (cause) {
        throw await whyRefused({ token, to, value }, cause)
      }
    },

    async broadcast(hash, raw) {
      try {
        await client.sendRawTransaction({ serializedTransaction: raw })
        return { result: 'sent' }
      } catch (cause) {
        return judge(hash, cause)
      }
    },

    async receiptStatus(hash) {
      const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      if (receipt === null) return undefined
      return receipt.status === '0x1' ? 'success' : 'reverted'
    },
  }
}
