/** A map that never has more than `max` keys: the key that was set longest ago makes room for a new one. */
export type BoundedMap<K, V> = {
  get(key: K): V | undefined
  /** Makes the key the youngest one, also when the map has it already. */
  set(key: K, value: V): void
  delete(key: K): void
  /** Oldest first; a key may be deleted on the way. */
  keys(): IterableIterator<K>
}

export function createBoundedMap<K, V>(max: number): BoundedMap<K, V> {
  const entries = new Map<K, V>()
  return {
    get: (key) => entries.get(key),
    keys: () => entries.keys(),
    delete: (key) => void entries.delete(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      // Each call adds at most one key, so one is enough.
      if (entries.size > max) entries.delete(entries.keys().next().value as K)
    },
  }
}
