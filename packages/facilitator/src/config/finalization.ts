/** Whether and at what pace burns are minted, as the operator set it. */

import type { Config } from './config.js'
import { limits } from './limits.js'
import type { Profile } from './profile.js'

export type Pace = {
  /** When payments of an epoch are minted together. */
  readonly batch: { readonly least: number; readonly waitMaxMs: number; readonly jitterMs: number }
  /** Mints are held back for a random time up to this. */
  readonly delayMaxMs: number
  /** Pauses after a failure: the first, and the longest. */
  readonly retryMs: { readonly first: number; readonly max: number }
}

/** The pace of a daemon. A recovery has a pace of its own. */
export const paceOf = ({ daemon, finalize }: Config): Pace => ({
  batch: {
    least: finalize.batch_least,
    waitMaxMs: finalize.batch_wait_max_ms,
    jitterMs: finalize.batch_jitter_ms,
  },
  delayMaxMs: finalize.delay_max_ms,
  retryMs: {
    first: daemon.finalize_interval_ms,
    max: daemon.finalize_interval_ms * limits.finalizeBackOffPeriodsMax,
  },
})

/** Why this configuration mints nothing, or undefined when it does. */
export function whyOff({ zerc20 }: Config, profile: Profile): string | undefined {
  if (!profile.acceptsPayments) return `the profile ${profile.name} freezes finalization`
  return zerc20.artifacts === undefined ? 'no proving keys were found (zerc20.artifacts)' : undefined
}
