import type { Clock } from '@svc-zerc20/protocol'

/** Virtual time: events in the order of their times. Nothing happens between two events, and no real time is waited for. */

type Event = { readonly atMs: number; readonly number: number; run: (() => void) | undefined }

export type Timeline = ReturnType<typeof createTimeline>

const startMs = 1_700_000_000_000

/** Resolves when nothing is left that can go on without waiting. To be called behind an `await`. */
const drained = () => new Promise<void>((resolve) => process.nextTick(resolve))

export function createTimeline() {
  let nowMs = startMs
  let count = 0
  const heap: Event[] = []
  const immediate: (() => void)[] = []

  const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number)

  function push(event: Event): void {
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent] as Event
      if (!isBefore(event, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = event
  }

  function pop(): Event | undefined {
    const top = heap[0]
    const last = heap.pop()
    if (!top || !last || heap.length === 0) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1
      if (!isBefore(heap[child] as Event, last)) break
      heap[at] = heap[child] as Event
      at = child
    }
    heap[at] = last
    return top
  }

  /** Returns how to take the event back. */
  function after(ms: number, run: () => void): () => void {
    count += 1
    const event: Event = { atMs: nowMs + Math.max(0, ms), number: count, run }
    push(event)
    return () => {
      event.run = undefined
    }
  }

  return {
    now: () => nowMs,
    after,

    /** As `after`, but what needs no pause happens now, and is no event: events are what a simulation costs. */
    soon(ms: number, run: () => void): void {
      if (ms > 0) after(ms, run)
      else run()
    },

    /** Runs this behind everything that follows from an event without waiting, and still at its time. */
    atOnce: (run: () => void) => void immediate.push(run),

    /** Runs events until there is none, or until `isOver` says so after one of them. */
    async run(isOver: () => boolean): Promise<void> {
      await undefined
      for (let event = pop(); event; event = pop()) {
        const { run } = event
        if (!run) continue
        nowMs = event.atMs
        run()
        await drained()
        while (immediate.length > 0) {
          for (const next of immediate.splice(0)) next()
          await drained()
        }
        if (isOver()) return
      }
    },
  }
}

/**
 * A process in virtual time. When it is killed, nothing that it waits for comes any more, and nothing that it asks for
 * happens. While it is stopped, whatever comes for it waits.
 */
export type Process = ReturnType<typeof createProcess>

export function createProcess(timeline: Timeline, skewMs: number) {
  let isAlive = true
  let isStopped = false
  const waiting: (() => void)[] = []

  function wake(run: () => void): void {
    if (!isAlive) return
    if (isStopped) waiting.push(run)
    else run()
  }

  const clock: Clock = {
    now: () => timeline.now() + skewMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const end = () => {
          signal?.removeEventListener('abort', cutShort)
          resolve()
        }
        const takeBack = timeline.after(ms, () => wake(end))
        const cutShort = () => {
          takeBack()
          resolve()
        }
        signal?.addEventListener('abort', cutShort, { once: true })
      }),
  }

  return {
    clock,
    isAlive: () => isAlive,
    isRunning: () => isAlive && !isStopped,
    wake,
    kill(): void {
      isAlive = false
      waiting.length = 0
    },
    stop(): void {
      isStopped = true
    },
    goOn(): void {
      isStopped = false
      for (const run of waiting.splice(0)) wake(run)
    },
  }
}
