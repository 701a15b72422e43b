/** Runs rounds of finalization: one a period, soon again while there is work, later and later while all of it fails. */
import { backOffMs, type Clock } from '@svc-zerc20/protocol'
import { type Loop, startLoop } from '../loop.js'
import type { Report } from '../report.js'
import type { Finalize } from './finalize.js'
import { count } from './progress.js'

export function startFinalizeLoop(deps: {
  readonly finalize: Pick<Finalize, 'round' | 'confirm'>
  readonly clock: Clock
  readonly periodMs: number
  /** Failures never make the loop slower than this. */
  readonly backOffMaxMs: number
  readonly report: Report
}): Loop {
  const { finalize, clock, report } = deps
  let failures = 0

  const onFailure = (err: unknown) => report({ event: 'finalize.failed', err })

  // Runs beside the rounds, so that a deep mint is recorded without waiting for the proofs of others.
  const confirms = startLoop({
    round: () => finalize.confirm(),
    clock,
    periodMs: Math.min(deps.periodMs, confirmMs),
    onFailure,
  })
  const rounds = startLoop({
    async round(signal) {
      const end = await finalize.round(signal).catch((err) => {
        if (!signal.aborted) onFailure(err)
      })
      // Where one block is enough, a mint is finalized as soon as it is mined.
      if (end && count(end, 'mined') > 0) confirms.wake()
      const progressed = end ? count(end, 'finalized', 'mined') : 0
      const failed = end ? count(end, 'failed') : 1
      failures = failed > 0 && progressed === 0 ? failures + 1 : 0
      return pauseMs(deps, failures, progressed)
    },
    clock,
    periodMs: deps.periodMs,
    onFailure,
  })
  return {
    wake: rounds.wake,
    async stop() {
      await Promise.all([rounds.stop(), confirms.stop()])
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
