import type { BatchAddition } from './batch-addition.js'

/** Lists of points, one behind the other: list i runs from `starts[i]` to `starts[i + 1]`. */
export type Segments = { readonly items: Int32Array; readonly starts: Int32Array }

/**
 * Adds up each list, in rounds: a round adds the first to the second, the third to the fourth and so on in all lists,
 * so that many additions share a division. Overwrites the items. The sum's address for every list, zero for nothing.
 * `place` gives room for a sum.
 */
export function sumSegments(
  { items, starts }: Segments,
  { addition, place }: { readonly addition: BatchAddition; readonly place: () => number },
): Int32Array {
  const count = starts.length - 1
  const lengths = new Int32Array(count)
  let active = new Int32Array(count)
  let activeCount = 0
  for (let segment = 0; segment < count; segment++) {
    const length = (starts[segment + 1] ?? 0) - (starts[segment] ?? 0)
    lengths[segment] = length
    if (length > 1) active[activeCount++] = segment
  }
  while (activeCount > 0) {
    const next = new Int32Array(activeCount)
    let nextCount = 0
    for (let index = 0; index < activeCount; index++) {
      const segment = active[index] ?? 0
      const start = starts[segment] ?? 0
      const length = lengths[segment] ?? 0
      const half = length >> 1
      for (let pair = 0; pair < half; pair++) {
        const out = place()
        addition.add(items[start + 2 * pair] ?? 0, items[start + 2 * pair + 1] ?? 0, out)
        items[start + pair] = out
      }
      if (length % 2 === 1) items[start + half] = items[start + length - 1] ?? 0
      lengths[segment] = half + (length % 2)
      next[nextCount++] = segment
    }
    addition.flush()
    activeCount = 0
    for (let index = 0; index < nextCount; index++) {
      const segment = next[index] ?? 0
      if (addition.infinite.size > 0) dropInfinite(segment)
      if ((lengths[segment] ?? 0) > 1) next[activeCount++] = segment
    }
    active = next
  }

  /** What vanished adds nothing. */
  function dropInfinite(segment: number): void {
    const start = starts[segment] ?? 0
    const kept = items
      .slice(start, start + (lengths[segment] ?? 0))
      .filter((item) => !addition.infinite.has(item))
    items.set(kept, start)
    lengths[segment] = kept.length
  }

  return Int32Array.from(lengths, (length, segment) =>
    length === 0 ? 0 : (items[starts[segment] ?? 0] ?? 0),
  )
}
