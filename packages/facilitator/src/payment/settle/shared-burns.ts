/**
 * Burns as a settle sees them, wherever they are under way. The daemon that sends has them at hand. Any other leaves its
 * claims to that one, and waits until the ledger tells how they ended.
 */
import { type ChallengeNonce, inTime } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { Clock } from '../ports.js'
import type { Burns } from './burns.js'
import type { BurnEnd } from './run-burn.js'

export type SettleBurns = Pick<Burns, 'start' | 'watch' | 'isUnderWay'>

/** What other daemons change. */
export type News = {
  /** How often there was news. To be asked before one looks. */
  seen(): number
  /** Waits until there is more, or for a while: hints may get lost. */
  since(seen: number, signal: AbortSignal): Promise<void>
}

export function createNews(
  hints: ((listener: () => void) => () => void) | undefined,
  clock: Pick<Clock, 'sleep'>,
  everyMs: number,
): News {
  let count = 0
  let next = new AbortController()
  hints?.(() => {
    count += 1
    next.abort()
    next = new AbortController()
  })
  return {
    seen: () => count,
    async since(seen, signal) {
      if (count === seen) await clock.sleep(everyMs, AbortSignal.any([signal, next.signal]))
    },
  }
}

export function createSharedBurns(deps: {
  /** The burns of this daemon. Undefined while another one sends. */
  readonly here: () => SettleBurns | undefined
  readonly ledger: Pick<Ledger, 'find'>
  readonly news: News
  readonly clock: Clock
}): SettleBurns {
  const { here, ledger, news, clock } = deps

  async function endElsewhere(nonce: ChallengeNonce, signal: AbortSignal): Promise<BurnEnd> {
    for (;;) {
      const seen = news.seen()
      const payment = await ledger.find(nonce)
      if (payment?.accepted) return { kind: 'accepted' }
      if (!payment?.claim && payment?.released) {
        const { reason, message, txHash } = payment.released
        return { kind: 'failed', rejection: { ok: false, reason, message }, ...(txHash && { txHash }) }
      }
      if (signal.aborted) throw signal.reason
      await news.since(seen, signal)
    }
  }

  async function watchElsewhere(nonce: ChallengeNonce, boundMs: number): Promise<BurnEnd | 'late'> {
    const waited = new AbortController()
    const ended = endElsewhere(nonce, waited.signal)
    try {
      return await inTime(ended, boundMs, clock)
    } finally {
      // Nobody waits for it any more, whichever way it ends.
      ended.catch(() => undefined)
      waited.abort()
    }
  }

  return {
    start: (challenge, payload, verdict) => here()?.start(challenge, payload, verdict),
    watch: (nonce, boundMs) => {
      const burns = here()
      return burns ? burns.watch(nonce, boundMs) : watchElsewhere(nonce, boundMs)
    },
    /** Another daemon takes up every claim by itself. */
    isUnderWay: (nonce) => here()?.isUnderWay(nonce) ?? true,
  }
}
