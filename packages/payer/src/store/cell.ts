/** One value that several callers change. */
export type Cell<T> = {
  read(): Promise<T | undefined>
  /**
   * Atomic: no other change comes between the value that `change` sees and the value it returns. `change` may
   * run several times, and only its last result counts. Returning the given value writes nothing.
   */
  update(change: (before: T | undefined) => T): Promise<T>
}

/** A cell that ends with the process. */
export function createMemoryCell<T>(): Cell<T> {
  let value: T | undefined
  return {
    read: async () => value,
    async update(change) {
      const after = change(value)
      value = after
      return after
    },
  }
}
