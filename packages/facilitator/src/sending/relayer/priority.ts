/**
 * Decides which call gets the next txNonce. Calls take turns, so that a txNonce is taken only once its
 * transaction is signed and recorded. Burns go before mints, and only a few mints are out at once: a burn
 * waits for no more than those few.
 */
import { SvcError } from '@svc-zerc20/protocol'
import type { Purpose } from '../../payment/records.js'

export type Priority = ReturnType<typeof createPriority>

export function createPriority(limits: { mintsInFlightMax: number; mintQueueMax: number }) {
  const waiting: Record<'first' | 'later', (() => Promise<void>)[]> = { first: [], later: [] }
  const mintsWaiting: (() => void)[] = []
  let mintsOut = 0
  let isRunning = false

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    for (;;) {
      const next = waiting.first.shift() ?? waiting.later.shift()
      if (!next) break
      await next()
    }
    isRunning = false
  }

  function admitNext(): void {
    if (mintsOut >= limits.mintsInFlightMax) return
    const next = mintsWaiting.shift()
    if (!next) return
    mintsOut += 1
    next()
  }

  return {
    /** Runs `work` alone; of those that wait, burns come first. Every other purpose waits as a mint does. */
    take: <T>(purpose: Purpose, work: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting[purpose === 'burn' ? 'first' : 'later'].push(() => work().then(resolve, reject))
        void run()
      }),

    /** Resolves when one more mint may be out. Throws `relayer_busy` when too many wait for that. */
    async admitMint(): Promise<void> {
      if (mintsWaiting.length >= limits.mintQueueMax)
        throw new SvcError('relayer_busy', 'too many mints wait for their transaction')
      const admitted = new Promise<void>((resolve) => mintsWaiting.push(resolve))
      admitNext()
      await admitted
    },

    /** Counts a mint of an earlier run as out, even if there is no place for it. */
    countMint(): void {
      mintsOut += 1
    },

    /** A mint that was admitted or counted has ended. */
    endMint(): void {
      mintsOut -= 1
      admitNext()
    },
  }
}
