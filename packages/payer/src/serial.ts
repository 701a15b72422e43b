/** Runs jobs one after the other, in the order they came; a failed job does not stop the next. */
export function createSerial(): <T>(job: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve()
  return (job) => {
    const turn = tail.then(job)
    tail = turn.catch(() => undefined)
    return turn
  }
}
