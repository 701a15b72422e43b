/** Runs tasks one after another in the order they were handed in; a failed task does not stop the next. */
export type Serial = {
  run<T>(task: () => Promise<T>): Promise<T>
}

/** Creates a queue that keeps whatever changes the chain from interleaving. */
export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(task) {
      const result = last.then(task)
      last = result.catch(() => undefined)
      return result
    },
  }
}
