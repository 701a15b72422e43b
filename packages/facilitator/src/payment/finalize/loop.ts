/** Runs rounds of finalization: one a period, soon again while there is work, later and later while all of it fails. */
import { backOffMs } from '@svc-zerc20/protocol'
import type { Clock } from '../ports.js'
import type { Finalize } from './finalize.js'
import type { FinalizeEvent } from './ports.js'
import { count, type RoundEnd } from './round.js'

export type FinalizeLoop = {
  /** Starts the next round at once, or right after the one under way. */
  wake(): void
  /** Ends the loop; resolves when the round under way has ended. */
  stop(): Promise<void>
}

export function startFinalizeLoop(deps: {
  readonly finalize: Pick<Finalize, 'round' | 'confirm'>
  readonly clock: Clock
  readonly periodMs: number
  /** Failures never make the loop slower than this. */
  readonly backOffMaxMs: number
  readonly report: (event: FinalizeEvent) => void
}): FinalizeLoop {
  const { finalize, clock, report } = deps
  const stopping = new AbortController()
  let pause = new AbortController()
  const { signal } = stopping

  /** Undefined when the round could not look at the chain. */
  async function oneRound(): Promise<RoundEnd | undefined> {
    try {
      return await finalize.round(signal)
    } catch (err) {
      if (!signal.aborted) report({ event: 'finalize.failed', err })
      return undefined
    }
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const end = await oneRound()
      const progressed = end ? count(end, 'finalized', 'mined') : 0
      const failed = end ? count(end, 'failed') : 1
      failures = failed > 0 && progressed === 0 ? failures + 1 : 0
      await clock.sleep(pauseMs(deps, failures, progressed), pause.signal)
      pause = new AbortController()
    }
  }

  /** Runs beside the rounds, so that a deep mint is recorded without waiting for the proofs of others. */
  async function confirm(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(Math.min(deps.periodMs, confirmMs), signal)
      try {
        if (!signal.aborted) await finalize.confirm()
      } catch (err) {
        if (!signal.aborted) report({ event: 'finalize.failed', err })
      }
    }
  }

  const ended = Promise.all([run(), confirm()])
  return {
    wake() {
      pause.abort()
    },
    async stop() {
      stopping.abort()
      pause.abort()
      await ended
    },
  }
}

/**
 * The pause before the next round. A round with progress is followed soon, because its mints only wait for
 * their depth.
 */
export function pauseMs(
  { periodMs, backOffMaxMs }: { readonly periodMs: number; readonly backOffMaxMs: number },
  failures: number,
  progressed: number,
): number {
  if (progressed > 0) return Math.min(periodMs, afterProgressMs)
  return failures === 0 ? periodMs : backOffMs(failures + 1, periodMs, backOffMaxMs)
}

const afterProgressMs = 1_000
const confirmMs = 2_000
