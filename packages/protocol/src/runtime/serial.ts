/** Runs jobs one after another, in order. A failed job does not stop the next. */
export type Serial = <T>(job: () => Promise<T>) => Promise<T>

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const turn = last.then(job)
    last = turn.catch(() => undefined)
    return turn
  }
}
