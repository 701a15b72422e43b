/**
 * Looks at the chain again and again while there is something to look for: often at first, then less and less, and not while
 * no block can come.
 */
import type { Clock } from '@svc-zerc20/protocol'
import type { Rhythm } from './rhythm.js'

export type WatchLimits = {
  readonly receiptPollFirstMs: number
  readonly rpcBackoffMaxMs: number
  readonly quietMaxMs: number
}

export function createWatch(deps: {
  poll: () => Promise<void>
  /** The longest pause between two looks; undefined when there is nothing to look for. */
  longestPauseMs: () => number | undefined
  /** Somebody waits for what is looked for. */
  isAwaited: () => boolean
  rhythm: Pick<Rhythm, 'quietMs'>
  onFailure: (err: unknown) => void
  clock: Clock
  limits: WatchLimits
}) {
  const { clock, limits } = deps
  let isWatching = false
  let isClosed = false
  let wake = new AbortController()

  /** How long no block can come, as far as that is believed. */
  const quietMs = () => Math.min(deps.rhythm.quietMs(clock.now()), limits.quietMaxMs)

  /** The next pause: until a block can come, and then, or where nobody knows, one that grows. */
  function pauses(otherwiseMs: number) {
    const noBlockMs = quietMs()
    const growingMs = noBlockMs > 0 ? limits.receiptPollFirstMs / 2 : otherwiseMs
    return { growingMs, pauseMs: Math.max(growingMs, noBlockMs) }
  }

  async function watch(): Promise<void> {
    isWatching = true
    let { growingMs, pauseMs } = pauses(limits.receiptPollFirstMs)
    while (deps.longestPauseMs() !== undefined && !isClosed) {
      await clock.sleep(pauseMs, wake.signal)
      if (wake.signal.aborted) {
        wake = new AbortController()
        ;({ growingMs, pauseMs } = pauses(limits.receiptPollFirstMs))
        continue
      }
      const longestMs = await pollOnce()
      if (!deps.isAwaited()) {
        pauseMs = longestMs
        continue
      }
      ;({ growingMs, pauseMs } = pauses(Math.min(growingMs * 2, longestMs)))
    }
    isWatching = false
  }

  /** How long the next pause may be. */
  async function pollOnce(): Promise<number> {
    try {
      await deps.poll()
      return deps.longestPauseMs() ?? 0
    } catch (err) {
      deps.onFailure(err)
      return limits.rpcBackoffMaxMs
    }
  }

  return {
    /** Starts looking, or looks as often as at first when it already does: something new is out. Not before a block can come. */
    pollSoon(): void {
      if (isWatching) wake.abort()
      else void watch()
    },
    close(): void {
      isClosed = true
      wake.abort()
    },
  }
}
