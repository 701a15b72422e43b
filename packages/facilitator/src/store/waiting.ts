/** Callers that wait for the outcome of a step. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Reply } from './group.js'

type Waiting = {
  readonly since: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How often steps are looked for that wait too long. */
const pollMs = 1_000

/** Callers of steps, in order. The engine replies in that order, and a caller that waits too long is told so. */
export function createWaiting(waitMs: number) {
  const waiting: Waiting[] = []
  const looking = setInterval(() => {
    const since = performance.now() - waitMs
    for (const step of waiting) {
      if (step.since > since) return
      step.reject(new SvcError('ledger_failed', 'the storage of the ledger does not answer'))
    }
  }, pollMs).unref()
  return {
    add: (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        waiting.push({ since: performance.now(), resolve, reject })
      }),
    settle(replies: readonly Reply[]): void {
      const ended = waiting.splice(0, replies.length)
      replies.forEach((reply, i) => {
        if ('error' in reply) ended[i]?.reject(reply.error)
        else ended[i]?.resolve(reply.value)
      })
    },
    fail(error: SvcError): void {
      for (const { reject } of waiting.splice(0)) reject(error)
    },
    close: () => clearInterval(looking),
  }
}
