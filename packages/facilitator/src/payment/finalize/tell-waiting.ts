/** Tells the operator that payments wait for the verifier: for a root that covers them, or for the end of a pause. */
import type { Clock } from '@svc-zerc20/protocol'
import type { Report } from '../report.js'
import type { WaitReason, Waits } from '../waits.js'
import type { ProvedRoot } from './ports.js'

export function createTellWaiting(deps: {
  readonly waits: Pick<Waits, 'summary'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: Report
  /** How long burns wait for a root before the operator is told, and before the operator is told anything again. */
  readonly rootPatienceMs: number
}) {
  const { waits, clock, report, rootPatienceMs } = deps
  const toldAtMs = new Map<WaitReason, number>()

  /** Tells once for all payments, and again while that lasts. */
  function tell(wait: WaitReason, isSo: boolean, patienceMs: number, reason: string): void {
    const { count: payments, sinceMs } = waits.summary(wait)
    const now = clock.now()
    if (!isSo || payments === 0 || now - sinceMs < patienceMs) {
      toldAtMs.delete(wait)
      return
    }
    if (now - (toldAtMs.get(wait) ?? Number.NEGATIVE_INFINITY) < rootPatienceMs) return
    toldAtMs.set(wait, now)
    const seconds = Math.floor((now - sinceMs) / 1000)
    report({ event: 'finalize.waiting', reason, payments, seconds })
  }

  /** Called after each round. */
  return ({ isPaused }: Pick<ProvedRoot, 'isPaused'>): void => {
    tell('verifier_paused', isPaused, 0, 'the verifier is paused')
    // A short wait is ordinary, because roots take their time.
    const behind = 'no proved root covers the burns; does the indexer prove roots?'
    tell('root_behind', true, rootPatienceMs, behind)
  }
}
