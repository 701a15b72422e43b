/**
 * Epochs: stretches of time in which addresses are made, each named by its first unix second. Addresses of an epoch and a
 * treasury share the recipient hash, and are minted together.
 */
import type { Config } from '../config/config.js'

/** The epoch of an address that is made at a time; undefined while every payment is minted by a proof of its own. */
export function epochsOf({ finalize }: Config): ((nowMs: number) => number) | undefined {
  if (finalize.mode === 'single') return undefined
  const length = finalize.epoch_seconds
  return (nowMs) => Math.floor(nowMs / 1000 / length) * length
}
