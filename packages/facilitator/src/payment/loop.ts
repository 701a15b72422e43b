/** Runs rounds one after the other until it is stopped. */
import type { Clock } from '@svc-zerc20/protocol'

export type Loop = {
  /** Starts the next round at once, or right after the one under way. */
  wake(): void
  /** Ends the loop; resolves when the round under way has ended. */
  stop(): Promise<void>
}

/** A round never throws. It returns the milliseconds until the next one. */
export function startLoop(
  clock: Pick<Clock, 'sleep'>,
  round: (signal: AbortSignal) => Promise<number>,
): Loop {
  const stopping = new AbortController()
  let pause = new AbortController()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(await round(stopping.signal), pause.signal)
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
