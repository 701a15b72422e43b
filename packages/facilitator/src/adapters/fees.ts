/** What a transaction should pay for gas right now. */
import type { Clock } from '../payment/ports.js'
import { type JsonRpc, type RpcAnswer, resultOf } from './json-rpc.js'

export type Fee = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

export type Fees = {
  /** From memory while it is fresh; otherwise one round trip. */
  current(): Promise<Fee>
  /** The fee of a replacement: higher than before by the percentage, and not below what is due now. */
  raised(previous: Fee): Fee
  sawBaseFee(baseFeePerGas: bigint): void
}

const fallbackTip = 1_000_000_000n

export function createFees(deps: { rpc: JsonRpc; clock: Clock; freshMs: number; bumpPercent: bigint }): Fees {
  const { rpc, clock } = deps
  let known: { baseFee: bigint; tip: bigint; at: number } | undefined

  // Twice the base fee outlasts six full blocks, each of which can raise it by an eighth.
  const due = (baseFee: bigint, tip: bigint): Fee => ({
    maxFeePerGas: baseFee * 2n + tip,
    maxPriorityFeePerGas: tip,
  })

  return {
    async current() {
      if (known && clock.now() - known.at < deps.freshMs) return due(known.baseFee, known.tip)
      const [block, tip] = await rpc.batch([
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ])
      known = {
        baseFee: baseFeeOf(resultOf('eth_getBlockByNumber', block)),
        tip: tipOf(tip),
        at: clock.now(),
      }
      return due(known.baseFee, known.tip)
    },

    raised({ maxFeePerGas, maxPriorityFeePerGas }) {
      const raise = (fee: bigint) => fee + (fee * deps.bumpPercent) / 100n + 1n
      const now = known ? due(known.baseFee, known.tip) : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
      return {
        maxFeePerGas: max(raise(maxFeePerGas), now.maxFeePerGas),
        maxPriorityFeePerGas: max(raise(maxPriorityFeePerGas), now.maxPriorityFeePerGas),
      }
    },

    sawBaseFee(baseFeePerGas) {
      if (known) known = { ...known, baseFee: baseFeePerGas, at: clock.now() }
    },
  }
}

export function baseFeeOf(block: unknown): bigint {
  const { baseFeePerGas } = block as { baseFeePerGas?: string }
  return baseFeePerGas === undefined ? 0n : BigInt(baseFeePerGas)
}

/** Nodes without the method get the usual tip. */
function tipOf(answer: RpcAnswer | undefined): bigint {
  return answer && 'result' in answer ? BigInt(answer.result as string) : fallbackTip
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
