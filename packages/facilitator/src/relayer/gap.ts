/**
 * A nonce below all of ours that stays unused keeps everything waiting: what an earlier process sent was evicted, or a
 * reorg took back what we sent.
 */
import type { Clock } from '../payment/ports.js'
import type { Slot } from './slot.js'

/** Says whether the first unused nonce has been such a gap for long enough to be filled. */
export type IsGap = (slots: readonly Slot[], firstUnused: number) => boolean

export function createIsGap(deps: { clock: Pick<Clock, 'now'>; patienceMs: number }): IsGap {
  let gap: { readonly txNonce: number; readonly sinceMs: number } | undefined
  return (slots, firstUnused) => {
    if (slots.length === 0 || !slots.every((slot) => slot.txNonce > firstUnused)) {
      gap = undefined
      return false
    }
    const now = deps.clock.now()
    if (gap?.txNonce !== firstUnused) gap = { txNonce: firstUnused, sinceMs: now }
    return now - gap.sinceMs >= deps.patienceMs
  }
}
