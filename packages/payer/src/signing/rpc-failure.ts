/** What went wrong at the RPC endpoint, in words that are safe to show. */
import { judgeRefusal } from '@svc-zerc20/evm/refusals'
import { BaseError, ExecutionRevertedError, InsufficientFundsError, RpcRequestError } from 'viem'
import { PayerError } from '../payer-error.js'

/** Whether the node itself answered, with an error, rather than nobody. */
export const isAnswer = (cause: unknown): cause is BaseError =>
  cause instanceof BaseError && cause.walk((e) => e instanceof RpcRequestError) !== null

/** What the node's words mean for bytes that may be sent again. */
export function refusalIn(cause: BaseError): ReturnType<typeof judgeRefusal> {
  const said = cause.walk((e) => e instanceof RpcRequestError) as RpcRequestError | null
  return judgeRefusal(said?.details ?? '')
}

export const isRevert = (cause: BaseError) => cause.walk((e) => e instanceof ExecutionRevertedError) !== null

export const isShortOfGas = (cause: BaseError) =>
  cause.walk((e) => e instanceof InsufficientFundsError) !== null || refusalIn(cause) === 'unfunded'

export function unavailable(detail: string, cause: unknown): PayerError {
  if (cause instanceof PayerError) return cause
  return new PayerError('chain_unavailable', `${detail}: ${explain(cause)}`, { cause })
}

/** The gist of a failure. The full message has the URL of the endpoint in it, which may hold a key. */
export function explain(cause: unknown): string {
  if (!(cause instanceof BaseError)) return 'the request failed'
  const { details } = cause
  const short = cause.shortMessage.replace(/\.$/, '')
  return details ? `${short} (${details})` : short
}
