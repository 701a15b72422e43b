/** One value that several callers change. */
export type Cell<T> = {
  read(): Promise<T | undefined>
  /**
   * Atomic: nobody else's change lies between the value that `change` sees and the one it returns. `change` may run
   * several times, and only its last result counts. Returning the value it was given writes nothing.
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
