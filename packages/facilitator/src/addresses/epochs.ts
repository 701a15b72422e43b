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

/** Addresses are made ahead, and may wait for their payment. The search ends after so many epochs. */
const epochsSearchedMax = 16

/** The epochs in which the address of a payment may have been made, the latest first; none in single mode. */
export function epochsBefore(config: Config): (at: number) => readonly number[] {
  const epochAt = epochsOf(config)
  if (!epochAt) return () => []
  const length = config.finalize.epoch_seconds
  return (at) => {
    const last = epochAt(at * 1000)
    const count = Math.min(epochsSearchedMax, Math.floor(last / length) + 1)
    return Array.from({ length: count }, (_, i) => last - i * length)
  }
}
