/** Counts tokens that are nobody's, and tells the operator once in a while: a guesser must not fill the log. */
import { limits } from '../config/limits.js'
import type { Clock } from '../payment/ports.js'
import type { Log } from '../telemetry/events.js'

export type UnknownTokens = { seen(caller: string): void; total(): number }

export function createUnknownTokens({ clock, log }: { clock: Clock; log: Log }): UnknownTokens {
  let toldAtMs = Number.NEGATIVE_INFINITY
  let told = 0
  let total = 0
  return {
    seen(caller) {
      total += 1
      if (clock.now() - toldAtMs < limits.unknownTokenReportMs) return
      log({ event: 'seller.unknown_token', caller, count: total - told })
      toldAtMs = clock.now()
      told = total
    },
    total: () => total,
  }
}
