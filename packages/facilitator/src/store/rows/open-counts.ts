/**
 * Numbers of challenges that are open, as far as they were counted in this second. They are never too low: challenges become
 * fewer when they are paid, and that is not followed.
 */
import type { UnixSeconds } from '@svc-zerc20/protocol'

/** By who asked for them; `undefined`: all. */
export type OpenCounts = Map<string | undefined, number>

export function createOpenCounts() {
  let known: { readonly second: UnixSeconds; readonly counts: OpenCounts } | undefined
  return {
    at(second: UnixSeconds): OpenCounts {
      if (known?.second !== second) known = { second, counts: new Map() }
      return known.counts
    },
    opened(asker: string | undefined): void {
      for (const who of new Set([undefined, asker])) {
        const count = known?.counts.get(who)
        if (count !== undefined) known?.counts.set(who, count + 1)
      }
    },
    forget(): void {
      known = undefined
    },
  }
}
