import { RpcError, rpcErrorCodes } from './rpc/rpc-error.js'

type EngineError = { code: number; message: string; data?: unknown }

// Clients recognize refusals by geth's wording, so the devnet uses it too. Code that knew only the embedded engine's
// messages would break on every real network.
const gethWording: readonly (readonly [RegExp, (match: RegExpMatchArray) => string])[] = [
  [/^Known transaction/, () => 'already known'],
  [/^Replacement transaction underpriced/, () => 'replacement transaction underpriced'],
  [
    /nonce too low\. Expected nonce to be at least (\d+) but got (\d+)/,
    ([, next, sent]) => `nonce too low: next nonce ${next}, tx nonce ${sent}`,
  ],
  [
    /enough funds.*upfront cost is: (\d+) and the sender's balance is: (\d+)/,
    ([, cost, balance]) => `insufficient funds for gas * price + value: balance ${balance}, tx cost ${cost}`,
  ],
  [/exceeds block gas limit/, () => 'exceeds block gas limit'],
  [
    /requires at least (\d+) gas but got (\d+)/,
    ([, least, got]) => `intrinsic gas too low: have ${got}, want ${least}`,
  ],
  [/raw transaction with an invalid chainId/, () => 'invalid chain id for signer'],
]

/** Turns an error of the embedded engine into the one geth would give. */
export function fromEngineError({ code, message, data }: EngineError): RpcError {
  const returned = revertData(data)
  if (returned !== undefined) {
    const reason = /reverted with reason string '(.*)'$/s.exec(message)?.[1]
    const text = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
    return new RpcError(rpcErrorCodes.executionReverted, text, returned)
  }
  if (/^Method .* is not supported$/.test(message)) {
    return new RpcError(
      rpcErrorCodes.methodNotFound,
      message.replace(/^Method (.*) is not supported$/, unknownMethod),
    )
  }
  for (const [pattern, reword] of gethWording) {
    const match = message.match(pattern)
    if (match !== null) return new RpcError(rpcErrorCodes.server, reword(match))
  }
  return new RpcError(code, message)
}

function unknownMethod(_sentence: string, method: string): string {
  return `the method ${method} does not exist or is not available`
}

function revertData(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('data' in data)) return undefined
  return typeof data.data === 'string' ? data.data : undefined
}
