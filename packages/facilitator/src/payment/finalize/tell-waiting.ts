/** Tells the operator that payments wait for the verifier: for a root that covers them, or for the end of a pause. */
import type { Clock } from '../ports.js'
import type { Waits } from '../waits.js'
import type { FinalizeEvent, ProvedRoot } from './ports.js'
import { count, type RoundEnd } from './round.js'

/** Called after each round. */
export type TellWaiting = (root: ProvedRoot, end: RoundEnd) => void

export function createTellWaiting(deps: {
  readonly waits: Pick<Waits, 'summary'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: (event: FinalizeEvent) => void
  /** How long burns wait for a root before the operator is told, and before the operator is told again. */
  readonly rootPatienceMs: number
}): TellWaiting {
  const { waits, clock, report, rootPatienceMs } = deps
  let toldPause = false
  let toldRootAtMs: number | undefined

  /** Tells once for each pause, not once for each round. */
  function tellPause({ isPaused }: ProvedRoot, end: RoundEnd): void {
    const payments = count(end, 'verifier_paused')
    if (payments > 0 && !toldPause) {
      report({ event: 'finalize.waiting', reason: 'the verifier is paused', payments, seconds: 0 })
    }
    toldPause = isPaused && (toldPause || payments > 0)
  }

  /**
   * A short wait is ordinary, because roots take their time. A long wait is told repeatedly, once for all
   * payments.
   */
  function tellRootBehind(): void {
    const { count: payments, sinceMs } = waits.summary('root_behind')
    const now = clock.now()
    const isLong = payments > 0 && now - sinceMs >= rootPatienceMs
    if (!isLong) toldRootAtMs = undefined
    else if (toldRootAtMs === undefined || now - toldRootAtMs >= rootPatienceMs) {
      toldRootAtMs = now
      const seconds = Math.floor((now - sinceMs) / 1000)
      report({
        event: 'finalize.waiting',
        reason: 'no proved root covers the burns; does the indexer prove roots?',
        payments,
        seconds,
      })
    }
  }

  return (root, end) => {
    tellPause(root, end)
    tellRootBehind()
  }
}
