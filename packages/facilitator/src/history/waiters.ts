/** Those who wait until something has come as far as a number. */
import type { SvcError } from '@svc-zerc20/protocol'

export function createWaiters() {
  type Waiter = {
    readonly upTo: number
    readonly done: () => void
    readonly failed: (error: SvcError) => void
  }
  let waiters: Waiter[] = []
  return {
    areThere: () => waiters.length > 0,
    until: (upTo: number) =>
      new Promise<void>((done, failed) => {
        waiters.push({ upTo, done, failed })
      }),
    /** It has come as far as this. */
    tell(reached: number): void {
      for (const { upTo, done } of waiters) if (upTo <= reached) done()
      waiters = waiters.filter(({ upTo }) => upTo > reached)
    },
    fail(error: SvcError): void {
      for (const { failed } of waiters.splice(0)) failed(error)
    },
  }
}
