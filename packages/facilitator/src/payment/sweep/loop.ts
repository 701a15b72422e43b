/** Looks again and again whether fees are to be swept or distributed. */
import type { Clock } from '../ports.js'

export type FeeLoop = {
  /** Ends the loop. A transaction that is under way is taken up by the next run. */
  stop(): Promise<void>
}

export function startFeeLoop(deps: {
  /** Each reports its own failures and rests after them. */
  readonly rounds: readonly (() => Promise<void>)[]
  readonly clock: Pick<Clock, 'sleep'>
  readonly periodMs: number
  readonly onFailure: (err: unknown) => void
}): FeeLoop {
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    while (!signal.aborted) {
      for (const round of deps.rounds) await round().catch(deps.onFailure)
      await deps.clock.sleep(deps.periodMs, signal)
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
