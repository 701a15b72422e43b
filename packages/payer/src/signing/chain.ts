/** What the payer asks of its RPC endpoint. */
import type { Address, Hex, TxHash } from '@svc-zerc20/protocol'
import {
  BaseError,
  createPublicClient,
  ExecutionRevertedError,
  encodeFunctionData,
  http,
  InsufficientFundsError,
  parseAbi,
  RpcRequestError,
  type TransactionSerializable,
} from 'viem'
import { prepareTransactionRequest } from 'viem/actions'
import type { PayerLimits } from '../limits.js'
import { PayerError, type PayerErrorCode } from '../payer-error.js'
import type { BlockTime } from './block-time.js'
import { createReadBurnState, type ReadBurnState } from './burn-state.js'
import type { PermitFacts } from './permit-nonces.js'
import type { TokenLabel } from './token-label.js'

const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function nonces(address owner) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
])

export type Transfer = { readonly token: Address; readonly to: Address; readonly value: bigint }

/**
 * - `sent`: the node has the transaction
 * - `refused`: the node answered no and does not have it
 * - `unclear`: no answer came, or one that is also given for bytes some node has; sending them again is safe
 */
export type Broadcast =
  | { readonly result: 'sent' }
  | { readonly result: 'refused' | 'unclear'; readonly why: string; readonly cause: unknown }

export type PayerChain = {
  /** The token's name and the payer's live permit nonce, in one round trip. */
  permitFacts(token: Address): Promise<PermitFacts>
  /** The code of an account, `0x` when it has none. */
  codeAt(address: Address): Promise<string>
  readBlock(number: bigint | 'latest'): Promise<BlockTime>
  balanceOf(token: Address, owner: Address): Promise<bigint>
  /** What a token calls itself, and its decimals. */
  tokenLabel(token: Address): Promise<TokenLabel>
  /** Whether a promised burn exists, or can no longer come to exist. */
  readonly burnState: ReadBurnState
  /** An unsigned transfer with the account's next nonce. Rejects when the transfer would fail, and says why. */
  prepareTransfer(transfer: Transfer): Promise<TransactionSerializable>
  /** Why the node would not have a transfer: no tokens, no gas money, the token's word, or the node's. */
  whyRefused(transfer: Transfer, cause: unknown): Promise<PayerError>
  broadcast(hash: TxHash, raw: Hex): Promise<Broadcast>
  /** Whether the transaction succeeded, or undefined while there is no receipt. */
  receiptStatus(hash: TxHash): Promise<'success' | 'reverted' | undefined>
}

export function createPayerChain({
  rpcUrl,
  chainId,
  payer,
  limits,
}: {
  readonly rpcUrl: string
  readonly chainId: number
  readonly payer: Address
  readonly limits: Pick<
    PayerLimits,
    'rpcTimeoutMs' | 'rpcRetriesMax' | 'gasHeadroomPercent' | 'transferGasMax'
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
    async permitFacts(token) {
      // Started together, so the transport sends them as one JSON-RPC batch.
      const reads = [
        checkChain(),
        readName(token),
        client.readContract({ address: token, abi: tokenAbi, functionName: 'nonces', args: [payer] }),
      ] as const
      try {
        const [, tokenName, nonce] = await Promise.all(reads)
        return { tokenName, nonce }
      } catch (cause) {
        throw unavailable(`name and nonces of ${token} could not be read`, cause)
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

    burnState: createReadBurnState(client, checkChain),

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

    whyRefused,

    async readBlock(number) {
      const block =
        number === 'latest'
          ? await client.getBlock({ blockTag: 'latest' })
          : await client.getBlock({ blockNumber: number })
      return { number: block.number ?? 0n, timestamp: block.timestamp }
    },

    async broadcast(hash, raw) {
      try {
        await client.sendRawTransaction({ serializedTransaction: raw })
        return { result: 'sent' }
      } catch (cause) {
        return (await holds(hash, cause)) ?? { result: 'unclear', why: explain(cause), cause }
      }
    },

    async receiptStatus(hash) {
      const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      if (receipt === null) return undefined
      return receipt.status === '0x1' ? 'success' : 'reverted'
    },
  }

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

  /** Only an answer that speaks of the bytes themselves, from a node that does not have them, is a refusal. */
  async function holds(hash: TxHash, cause: unknown): Promise<Broadcast | undefined> {
    if (!isAnswer(cause)) return undefined
    try {
      const known = await client.request({ method: 'eth_getTransactionByHash', params: [hash] })
      if (known !== null) return { result: 'sent' }
      // Behind one address there may be several nodes: one has the bytes, another does not show them yet.
      return isHeldSomewhere(cause) ? undefined : { result: 'refused', why: explain(cause), cause }
    } catch {
      // Without an answer the transaction must be taken to exist.
      return undefined
    }
  }
}

/** What nodes say to bytes that they have, or whose nonce was used, perhaps by these very bytes. */
function isHeldSomewhere(cause: BaseError): boolean {
  const said = cause.walk((e) => e instanceof RpcRequestError) as RpcRequestError | null
  return /already ?known|known transaction|already imported|same hash|nonce too low|old ?nonce/i.test(
    said?.details ?? '',
  )
}

/** Whether the node itself answered, with an error, rather than nobody. */
const isAnswer = (cause: unknown): cause is BaseError =>
  cause instanceof BaseError && cause.walk((e) => e instanceof RpcRequestError) !== null

const isRevert = (cause: BaseError) => cause.walk((e) => e instanceof ExecutionRevertedError) !== null

function isShortOfGas(cause: BaseError): boolean {
  const said = cause.walk((e) => e instanceof RpcRequestError) as RpcRequestError | null
  return (
    cause.walk((e) => e instanceof InsufficientFundsError) !== null ||
    /insufficient (funds|balance)|doesn't have enough funds/i.test(said?.details ?? '')
  )
}

function unavailable(detail: string, cause: unknown): PayerError {
  if (cause instanceof PayerError) return cause
  return new PayerError('chain_unavailable', `${detail}: ${explain(cause)}`, { cause })
}

/** The gist of a failure. The full message has the URL of the endpoint in it, which may hold a key. */
function explain(cause: unknown): string {
  if (!(cause instanceof BaseError)) return 'the request failed'
  const { details } = cause
  const short = cause.shortMessage.replace(/\.$/, '')
  return details ? `${short} (${details})` : short
}
