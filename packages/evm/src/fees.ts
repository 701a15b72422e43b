/** What a transaction should pay for gas right now. */

import { latestCall } from './blocks.js'
import { type JsonRpc, quantityOf, type RpcAnswer, resultOf, wellFormed } from './json-rpc.js'

export type Fee = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

export type Fees = {
  /** From memory while it is fresh; otherwise one round trip. Never above the ceiling. */
  current(): Promise<Fee>
  /**
   * The fee of a replacement: higher than before by the percentage, and not below what is due now. Undefined
   * when the ceiling leaves no room for it.
   */
  raised(previous: Fee): Fee | undefined
  sawBaseFee(baseFeePerGas: bigint): void
}

/** In wei, for nodes that suggest none. */
const fallbackTip = 1_000_000_000n

/** In wei: whatever the node says, no transaction pays more for its gas, or more of it as a tip. */
export type FeeCeiling = { readonly feePerGasMax: bigint; readonly tipPerGasMax: bigint }

export function createFees(
  deps: {
    readonly rpc: Pick<JsonRpc, 'batch'>
    readonly clock: { now(): number }
    /** For how long a tip is remembered. */
    readonly freshMs: number
    readonly bumpPercent: bigint
  } & FeeCeiling,
): Fees {
  const { rpc, clock } = deps
  let known: { baseFee: bigint; tip: bigint; at: number } | undefined

  const capped = (maxFee: bigint, tip: bigint): Fee => {
    const maxFeePerGas = min(maxFee, deps.feePerGasMax)
    return { maxFeePerGas, maxPriorityFeePerGas: min(min(tip, deps.tipPerGasMax), maxFeePerGas) }
  }

  // Twice the base fee outlasts six full blocks, each of which can raise it by an eighth. A tip at its ceiling could
  // not be raised, and nodes take no replacement without a higher tip: a suggestion is believed up to the half.
  const due = (baseFee: bigint, suggested: bigint) => {
    const tip = min(suggested, deps.tipPerGasMax / 2n)
    return capped(baseFee * 2n + tip, tip)
  }

  return {
    async current() {
      if (known && clock.now() - known.at < deps.freshMs) return due(known.baseFee, known.tip)
      const [block, tip] = await rpc.batch([latestCall, { method: 'eth_maxPriorityFeePerGas', params: [] }])
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
      if (raise(maxFeePerGas) > deps.feePerGasMax) return undefined
      if (raise(maxPriorityFeePerGas) > deps.tipPerGasMax) return undefined
      return capped(
        max(raise(maxFeePerGas), now.maxFeePerGas),
        max(raise(maxPriorityFeePerGas), now.maxPriorityFeePerGas),
      )
    },

    sawBaseFee(baseFeePerGas) {
      // Only the base fee: under steady load the tip would otherwise never be asked for again.
      if (known) known = { ...known, baseFee: baseFeePerGas }
    },
  }
}

export function baseFeeOf(block: unknown): bigint {
  return wellFormed('eth_getBlockByNumber', () => {
    const { baseFeePerGas } = block as { baseFeePerGas?: string }
    return baseFeePerGas === undefined ? 0n : BigInt(baseFeePerGas)
  })
}

/** Nodes without the method get the usual tip. */
function tipOf(answer: RpcAnswer | undefined): bigint {
  return answer && 'result' in answer ? quantityOf('eth_maxPriorityFeePerGas', answer) : fallbackTip
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
const min = (a: bigint, b: bigint) => (a < b ? a : b)
