/** Runs rounds one after the other until it is stopped: one a period, and later and later while they fail. */
import { backOffMs, type Clock } from '@svc-zerc20/protocol'

export type Loop = {
  /** Starts the next round at once, or right after the one under way. */
  wake(): void
  /** Ends the loop; resolves when the round under way has ended. */
  stop(): Promise<void>
}

export function startLoop(deps: {
  readonly clock: Pick<Clock, 'sleep'>
  /** Gives the milliseconds until the next round, if that is not a period. */
  readonly round: (signal: AbortSignal) => Promise<number> | Promise<void>
  readonly periodMs: number
  /** Failures never make the loop slower than this: by default, not at all. */
  readonly backOffMaxMs?: number
  /** Told of each failure until the loop is stopped. */
  readonly onFailure: (err: unknown) => void
}): Loop {
  const { clock, round, periodMs, backOffMaxMs = periodMs } = deps
  const stopping = new AbortController()
  let pause = new AbortController()
  let failures = 0

  /** Gives the milliseconds until the next round. */
  async function runOne(): Promise<number> {
    try {
      const pauseMs = await round(stopping.signal)
      failures = 0
      return pauseMs ?? periodMs
    } catch (err) {
      failures += 1
      if (!stopping.signal.aborted) deps.onFailure(err)
      return backOffMs(failures, periodMs, backOffMaxMs)
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(await runOne(), pause.signal)
      pause = new AbortController()
    }
  }

  const ended = run()
  return {
    wake: () => pause.abort(),
    async stop() {
      stopping.abort()
      pause.abort()
      await ended
    },
  }
}
