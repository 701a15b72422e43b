/** Runs tasks in order, at most a fixed number at once. */
export type Lane = <T>(task: () => Promise<T>) => Promise<T>

export function createLane(width: number): Lane {
  let running = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await task()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}
