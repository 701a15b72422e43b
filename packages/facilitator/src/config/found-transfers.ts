/** How transfers that nobody presented are treated, as the operator set it. */
import type { Config } from './config.js'

/** Smaller transfers cost more gas to mint than they bring, in the operator's own words. */
export const dustBelow = ({ settlement }: Config): bigint => {
  const least: bigint = settlement.min_amount ?? 0n
  const relayed: bigint = settlement.relay_min_amount ?? 0n
  return relayed < least ? least : relayed
}

/** Nobody waits for a transfer that was found, so it may be as deep as a mint before it counts. */
export const foundDepth = ({ settlement, finalize }: Config): number =>
  Math.max(settlement.confirmations, finalize.confirmations)

const daySeconds = 86_400

/** How long an issued address is remembered. */
export const issuedRetentionSeconds = ({ settlement }: Config): number =>
  settlement.issued_retention_days * daySeconds
