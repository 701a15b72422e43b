/** An aborted sleep may resolve or reject; whoever waits takes either as the end. */
export type Sleeper = { sleep(ms: number, signal: AbortSignal): Promise<void> }

/** Callers that wait for an item each, first come, first served. */
export type WaitLine<Item> = {
  length(): number
  /** Waits at most `waitMs` for an item; undefined when none came or the line was dismissed. */
  join(waitMs: number): Promise<Item | undefined>
  /** Gives the item to the first in line; false if nobody waits and the item is still the caller's. */
  serve(item: Item): boolean
  /** Sends everybody away empty-handed. */
  dismiss(): void
}

export function createWaitLine<Item>(clock: Sleeper): WaitLine<Item> {
  type Waiter = (item: Item | undefined) => void
  const waiters: Waiter[] = []
  return {
    length: () => waiters.length,
    join: (waitMs) =>
      new Promise((resolve) => {
        const left = new AbortController()
        const waiter: Waiter = (item) => {
          left.abort()
          resolve(item)
        }
        const giveUp = () => {
          const place = waiters.indexOf(waiter)
          if (place < 0) return // served or dismissed; its end of the sleep is no news
          waiters.splice(place, 1)
          resolve(undefined)
        }
        waiters.push(waiter)
        clock.sleep(waitMs, left.signal).then(giveUp, giveUp)
      }),
    serve(item) {
      const first = waiters.shift()
      first?.(item)
      return first !== undefined
    },
    dismiss() {
      for (const waiter of waiters.splice(0)) waiter(undefined)
    },
  }
}
