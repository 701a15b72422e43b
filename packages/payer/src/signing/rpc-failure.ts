/** Errors of the RPC endpoint, in words that are safe to show. */
import { judgeRefusal } from '@svc-zerc20/evm/refusals'
import { BaseError, ExecutionRevertedError, InsufficientFundsError, RpcRequestError } from 'viem'
import { PayerError } from '../payer-error.js'

/** Whether the node itself answered with an error. False when no answer came. */
export const isAnswer = (cause: unknown): cause is BaseError =>
  cause instanceof BaseError && cause.walk((e) => e instanceof RpcRequestError) !== null

/** The node's error, judged by its message: whether the same bytes may be sent again. */
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

/** A failure in short. The full message contains the endpoint's URL, which may hold a key. */
export function explain(cause: unknown): string {
  if (!(cause instanceof BaseError)) return 'the request failed'
  const { details } = cause
  const short = cause.shortMessage.replace(/\.$/, '')
  return details ? `${short} (${details})` : short
}
