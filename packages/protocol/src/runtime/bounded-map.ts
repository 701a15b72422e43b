/** A map of at most `max` keys. A new key replaces the key that was set longest ago. */
export type BoundedMap<K, V> = {
  get(key: K): V | undefined
  /** Makes the key the newest, even if the map has it already. */
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
      // Each call adds at most one key, so removing one is enough.
      if (entries.size > max) entries.delete(entries.keys().next().value as K)
    },
  }
}
