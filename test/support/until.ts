import { setMaxListeners } from 'node:events'
import { getCurrentTest } from 'vitest/suite'

/**
 * The first pause between two questions. Pauses grow with the time that was waited, so that a short wait ends at once,
 * and a wait for a proof, which asks the chain and a daemon each time, takes little time from the proof.
 */
const firstPauseMs = 2
const pauseGrowth = 1.2
const pauseMsMax = 500

/** The first few of many waits say enough. */
const reportCharsMax = 3_000

/**
 * Asks again until there is an answer: anything but undefined, null and false. The test's own timeout is the bound, and
 * its failure then says which question had no answer. With `everyMs` all pauses have that length, for a test that must
 * act at the very instant.
 */
export async function until<T>(
  ask: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  { everyMs }: { readonly everyMs?: number } = {},
): Promise<T> {
  const { stack = '' } = new Error(`it still waited for ${ask}`)
  const timedOut = getCurrentTest()?.context.signal
  const tell = () => {
    const { reason } = timedOut ?? {}
    if (!(reason instanceof Error) || reason.message.length > reportCharsMax) return
    reason.message += stack.replace(/^Error: /, '\n').replaceAll(/\n.*node_modules.*/g, '')
  }
  // A test may wait for many things at once.
  if (timedOut) setMaxListeners(0, timedOut)
  timedOut?.addEventListener('abort', tell)
  try {
    for (let pauseMs = everyMs ?? firstPauseMs; ; ) {
      const answer = await ask()
      if (answer !== undefined && answer !== null && answer !== false) return answer
      // A test that has failed must not go on beside the next one.
      timedOut?.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      if (everyMs === undefined) pauseMs = Math.min(pauseMs * pauseGrowth, pauseMsMax)
    }
  } finally {
    timedOut?.removeEventListener('abort', tell)
  }
}
