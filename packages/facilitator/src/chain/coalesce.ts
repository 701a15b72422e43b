/**
 * Combines questions that arrive together into one call. While the maximum number of calls is under way, further
 * questions wait for the next call. So each call has more questions under higher load.
 */
export type Coalescer<Q, A> = { ask(question: Q): Promise<A>; size(): number }

export function createCoalescer<Q, A>(deps: {
  /** Answers in the order of the questions. */
  run: (questions: readonly Q[]) => Promise<readonly A[]>
  batchMax: number
  inFlightMax: number
  /**
   * Awaited before a call that is not full starts beside so many others, so that it gathers more questions. `enough` aborts
   * once it is full, or the others have ended.
   */
  gather?: (inFlight: number, enough: AbortSignal) => Promise<void>
}): Coalescer<Q, A> {
  type Waiting = { question: Q; resolve: (answer: A) => void; reject: (error: unknown) => void }
  const waiting: Waiting[] = []
  let inFlight = 0
  let scheduled = false
  let gathering: AbortController | undefined

  function schedule(): void {
    const isAtOnce = inFlight === 0 || waiting.length >= deps.batchMax
    if (isAtOnce) gathering?.abort('enough')
    if (scheduled || waiting.length === 0 || inFlight >= deps.inFlightMax) return
    scheduled = true
    const start = () => {
      scheduled = false
      gathering = undefined
      void flush()
    }
    if (deps.gather && !isAtOnce) {
      gathering = new AbortController()
      void deps.gather(inFlight, gathering.signal).then(start)
    }
    // Starts after the events that are already queued, so that requests that arrived together share a call.
    else setImmediate(start)
  }

  async function flush(): Promise<void> {
    if (inFlight >= deps.inFlightMax) return
    const batch = waiting.splice(0, deps.batchMax)
    if (batch.length === 0) return
    inFlight += 1
    schedule()
    try {
      const answers = await deps.run(batch.map(({ question }) => question))
      for (const [i, { resolve, reject }] of batch.entries()) {
        const answer = answers[i]
        if (answer === undefined) reject(new Error('a coalesced call answered too little'))
        else resolve(answer)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      inFlight -= 1
      schedule()
    }
  }

  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        waiting.push({ question, resolve, reject })
        schedule()
      }),
    size: () => waiting.length,
  }
}
