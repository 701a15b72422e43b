/**
 * The limits that an operator sets. Sellers and agents cannot change them. Caps are judged in `offer-rules.ts`, of one payment,
 * and in `state/capped-totals.ts`, of several.
 */
import type { Address, BaseUnits, Network } from '@svc-zerc20/protocol'
import type { HostRule } from './hosts.js'

export type Policy = {
  readonly network: Network.Network
  readonly allowedHosts: HostRule
  /** Undefined allows any token. */
  readonly allowedTokens: readonly Address[] | undefined
  /** Undefined: a helper is judged by its code. */
  readonly allowedHelpers: readonly Address[] | undefined
  /** Caps in base units; undefined is no cap. */
  readonly maxAmountPerPayment: BaseUnits | undefined
  readonly maxTotal: BaseUnits | undefined
  readonly maxPerHost: BaseUnits | undefined
  readonly maxPerDay: BaseUnits | undefined
  /** The most that the gas of one self-transfer may cost, in wei. */
  readonly maxGasWei: bigint
  /** Above this amount a human is asked. Undefined: nobody is asked. */
  readonly approveAbove: BaseUnits | undefined
  readonly approvalTimeoutMs: number
  /** A human is asked when a route asks this many percent more than before. Undefined: nobody is asked. */
  readonly priceRisePercent: number | undefined
}
