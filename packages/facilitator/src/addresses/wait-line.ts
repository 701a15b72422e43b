/** A clock's sleep. An aborted sleep may resolve or reject; both are its end. */
export type Sleeper = { sleep(ms: number, signal: AbortSignal): Promise<void> }

/** Callers that wait for one item each. Each caller is known by its key. */
export type WaitLine<Item> = {
  length(): number
  /** Waits at most `waitMs` for an item; undefined when none came, the caller left or the line was dismissed. */
  join(waitMs: number, key: string, gone?: AbortSignal): Promise<Item | undefined>
  /**
   * The caller that is next: the lowest rank, and the first in line among equals. Undefined when nobody has a
   * rank.
   */
  next(rank: (key: string) => number | undefined): Turn<Item> | undefined
  /** Sends every caller away without an item. */
  dismiss(): void
}

/** A turn is served at once or never: other callers may come or go meanwhile. */
export type Turn<Item> = { readonly key: string; serve(item: Item): void }

export function createWaitLine<Item>(clock: Sleeper): WaitLine<Item> {
  type Waiter = { readonly key: string; end(item: Item | undefined): void }
  const waiters = new Set<Waiter>()
  return {
    length: () => waiters.size,
    join: (waitMs, key, gone) =>
      new Promise((resolve) => {
        const left = new AbortController()
        const giveUp = () => waiter.end(undefined)
        const waiter: Waiter = {
          key,
          end(item) {
            if (!waiters.delete(waiter)) return // it ended before; that its sleep ends too is no news
            left.abort()
            gone?.removeEventListener('abort', giveUp)
            resolve(item)
          },
        }
        waiters.add(waiter)
        gone?.addEventListener('abort', giveUp)
        clock.sleep(waitMs, left.signal).then(giveUp, giveUp)
        if (gone?.aborted) giveUp()
      }),
    next(rank) {
      const ranks = new Map<string, number | undefined>()
      let first: Waiter | undefined
      let lowest = Number.POSITIVE_INFINITY
      for (const waiter of waiters) {
        if (!ranks.has(waiter.key)) ranks.set(waiter.key, rank(waiter.key))
        const own = ranks.get(waiter.key)
        if (own === undefined || own >= lowest) continue
        first = waiter
        lowest = own
      }
      return first && { key: first.key, serve: first.end }
    },
    dismiss() {
      for (const waiter of [...waiters]) waiter.end(undefined)
    },
  }
}
