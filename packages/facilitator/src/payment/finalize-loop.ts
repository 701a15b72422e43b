/** Runs rounds of finalization: one a period, at once while there is work, later and later while all of it fails. */
import type { Finalize, RoundEnd } from './finalize.js'
import type { FinalizeEvent } from './mint-ports.js'
import type { Clock } from './ports.js'
import { backOffMs } from './retries.js'

export type FinalizeLoop = {
  /** Ends the loop; resolves when the round under way has ended. */
  stop(): Promise<void>
}

export function startFinalizeLoop(deps: {
  readonly finalize: Finalize
  readonly clock: Clock
  readonly periodMs: number
  /** Failures never make the loop slower than this. */
  readonly backOffMaxMs: number
  readonly report: (event: FinalizeEvent) => void
}): FinalizeLoop {
  const { finalize, clock, report } = deps
  const stopping = new AbortController()
  const { signal } = stopping

  async function oneRound(): Promise<RoundEnd> {
    try {
      return await finalize.round(signal)
    } catch (err) {
      if (!signal.aborted) report({ event: 'finalize.failed', err })
      return { progressed: 0, waiting: 0, failed: 1 }
    }
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const { progressed, failed } = await oneRound()
      failures = failed > 0 && progressed === 0 ? failures + 1 : 0
      await clock.sleep(pauseMs(deps, failures, progressed), signal)
    }
  }

  const ended = run()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** The pause before the next round. One that got somewhere is followed soon: its mints only wait for their depth. */
export function pauseMs(
  { periodMs, backOffMaxMs }: { readonly periodMs: number; readonly backOffMaxMs: number },
  failures: number,
  progressed: number,
): number {
  if (progressed > 0) return Math.min(periodMs, afterProgressMs)
  return failures === 0 ? periodMs : backOffMs(failures + 1, periodMs, backOffMaxMs)
}

const afterProgressMs = 1_000
