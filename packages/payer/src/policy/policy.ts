/**
 * The limits that an operator sets. Sellers and agents cannot change them. Caps are judged in `offer-rules.ts`, of one payment,
 * and in `state/capped-totals.ts`, of several.
 */
import type { Address, BaseUnits, Network } from '@svc-zerc20/protocol'
import { type HostRule, narrowHosts } from './hosts.js'

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

/** Limits that are laid over a policy. */
export type Tightening = Partial<Omit<Policy, 'network' | 'approvalTimeoutMs'>>

/** The policy with the tighter one of every two limits. A tightening never loosens a limit. */
export function tighten(policy: Policy, by: Tightening): Policy {
  return {
    ...policy,
    allowedHosts: narrowHosts(policy.allowedHosts, by.allowedHosts ?? 'any'),
    allowedTokens: both(policy.allowedTokens, by.allowedTokens),
    allowedHelpers: both(policy.allowedHelpers, by.allowedHelpers),
    maxAmountPerPayment: lower(policy.maxAmountPerPayment, by.maxAmountPerPayment),
    maxTotal: lower(policy.maxTotal, by.maxTotal),
    maxPerHost: lower(policy.maxPerHost, by.maxPerHost),
    maxPerDay: lower(policy.maxPerDay, by.maxPerDay),
    maxGasWei: lower(policy.maxGasWei, by.maxGasWei) ?? policy.maxGasWei,
    approveAbove: lower(policy.approveAbove, by.approveAbove),
    priceRisePercent: lower(policy.priceRisePercent, by.priceRisePercent),
  }
}

function lower<T extends bigint | number>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}

function both(a: readonly Address[] | undefined, b: readonly Address[] | undefined) {
  if (a === undefined || b === undefined) return a ?? b
  return b.filter((address) => a.includes(address))
}
