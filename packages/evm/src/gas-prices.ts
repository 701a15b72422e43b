/** The price that a transaction should offer for gas now. */
import type { Clock } from '@svc-zerc20/protocol'
import { latestCall } from './blocks.js'
import { type JsonRpc, quantityOf, type RpcAnswer, type RpcCall, resultOf, wellFormed } from './json-rpc.js'

export type GasPrice = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

export type GasPrices = {
  /** The remembered price while it is fresh, else read in one round trip. Never above the ceiling. */
  current(): Promise<GasPrice>
  /**
   * The price of a replacement: raised by the configured percentage, and at least the current price. Undefined when that
   * would be above the ceiling.
   */
  raised(previous: GasPrice): GasPrice | undefined
  sawBaseFee(baseFeePerGas: bigint): void
}

const tipCall: RpcCall = { method: 'eth_maxPriorityFeePerGas', params: [] }

/** Tip in wei for nodes that suggest none. */
const fallbackTip = 1_000_000_000n

/** Ceilings in wei for the price and for the tip of any transaction, whatever the node suggests. */
export type GasPriceCeiling = { readonly feePerGasMax: bigint; readonly tipPerGasMax: bigint }

export function createGasPrices(
  deps: {
    readonly rpc: Pick<JsonRpc, 'batch'>
    readonly clock: Pick<Clock, 'now'>
    /** How long a tip is remembered. */
    readonly freshMs: number
    readonly bumpPercent: bigint
  } & GasPriceCeiling,
): GasPrices {
  const { rpc, clock } = deps
  let known: { baseFee: bigint; seenAt: number; tip: bigint; at: number } | undefined

  const capped = (maxFee: bigint, tip: bigint): GasPrice => {
    const maxFeePerGas = min(maxFee, deps.feePerGasMax)
    return { maxFeePerGas, maxPriorityFeePerGas: min(min(tip, deps.tipPerGasMax), maxFeePerGas) }
  }

  // Twice the base fee lasts for six full blocks, each of which can raise it by an eighth. A suggested tip is used only
  // up to half the ceiling: nodes take a replacement only with a higher tip, and a tip at the ceiling cannot be raised.
  const due = (baseFee: bigint, suggested: bigint) => {
    const tip = min(suggested, deps.tipPerGasMax / 2n)
    return capped(baseFee * 2n + tip, tip)
  }

  return {
    async current() {
      const now = clock.now()
      const isSeen = known !== undefined && now - known.seenAt < deps.freshMs
      if (known && isSeen && now - known.at < deps.freshMs) return due(known.baseFee, known.tip)
      const [tip, block] = await rpc.batch([tipCall, ...(isSeen ? [] : [latestCall])])
      const { baseFee, seenAt } =
        isSeen && known
          ? known
          : { baseFee: baseFeeOf(resultOf('eth_getBlockByNumber', block)), seenAt: clock.now() }
      known = { baseFee, seenAt, tip: tipOf(tip), at: clock.now() }
      return due(known.baseFee, known.tip)
    },

    raised({ maxFeePerGas, maxPriorityFeePerGas }) {
      const raise = (price: bigint) => price + (price * deps.bumpPercent) / 100n + 1n
      const now = known ? due(known.baseFee, known.tip) : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
      if (raise(maxFeePerGas) > deps.feePerGasMax) return undefined
      if (raise(maxPriorityFeePerGas) > deps.tipPerGasMax) return undefined
      return capped(
        max(raise(maxFeePerGas), now.maxFeePerGas),
        max(raise(maxPriorityFeePerGas), now.maxPriorityFeePerGas),
      )
    },

    sawBaseFee(baseFeePerGas) {
      // Updates the base fee but not the age of the tip. Otherwise, under steady load, the tip would never be read again.
      if (known) known = { ...known, baseFee: baseFeePerGas, seenAt: clock.now() }
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
