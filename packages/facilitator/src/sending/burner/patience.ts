/** Asks a node again until it answers: a mined transaction has an outcome, and the chain knows it. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'

export type Patience = {
  /** Throws when the daemon closes meanwhile. */
  pause(ms: number): Promise<void>
  /** Repeats a question, at longer and longer intervals, until the node answers it. */
  untilAnswered<T>(question: () => Promise<T>): Promise<T>
}

export type PatienceLimits = { readonly receiptPollMaxMs: number; readonly rpcBackoffMaxMs: number }

export function createPatience(deps: {
  clock: Clock
  onRpcFailure: (err: unknown) => void
  closing: AbortSignal
  limits: PatienceLimits
}): Patience {
  const { clock, closing, limits } = deps

  async function pause(ms: number): Promise<void> {
    await clock.sleep(ms)
    if (closing.aborted)
      throw new SvcError('burner_closed', 'the facilitator closed before the burn was seen')
  }

  return {
    pause,
    async untilAnswered(question) {
      for (let pauseMs = limits.receiptPollMaxMs; ; pauseMs = Math.min(pauseMs * 2, limits.rpcBackoffMaxMs)) {
        try {
          return await question()
        } catch (err) {
          if (closing.aborted) throw err
          deps.onRpcFailure(err)
          await pause(pauseMs)
        }
      }
    },
  }
}
