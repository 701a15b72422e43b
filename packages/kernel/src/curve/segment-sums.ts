import type { BatchAddition } from './batch-addition.js'

/** Lists of points, one behind the other: list i runs from `starts[i]` to `starts[i + 1]`. */
export type Segments = { readonly items: Int32Array; readonly starts: Int32Array }

export type SegmentSums = {
  readonly addition: BatchAddition
  /** Allocates `count` sums, `step` bytes apart. Throws when there is no room. */
  readonly place: (count: number) => number
  readonly step: number
}

/**
 * Adds up each list in rounds. A round adds the first to the second point, the third to the fourth and so on, in all
 * lists together, so that many additions share one division. Overwrites the items. Returns the address of each list's
 * sum, or zero for the point at infinity.
 */
export function sumSegments({ items, starts }: Segments, { addition, place, step }: SegmentSums): Int32Array {
  const count = starts.length - 1
  const lengths = new Int32Array(count)
  const active = new Int32Array(count)
  const additions = new Int32Array(3 * (items.length >> 1))
  let activeCount = 0
  let pairCount = 0
  for (let segment = 0; segment < count; segment++) {
    const length = (starts[segment + 1] ?? 0) - (starts[segment] ?? 0)
    lengths[segment] = length
    if (length < 2) continue
    active[activeCount++] = segment
    pairCount += length >> 1
  }
  while (activeCount > 0) {
    planRound(place(pairCount))
    addition.addAll(additions.subarray(0, 3 * pairCount))
    if (addition.infinite.size > 0) dropInfinite()
    keepActive()
  }
  return Int32Array.from(lengths, (length, segment) =>
    length === 0 ? 0 : (items[starts[segment] ?? 0] ?? 0),
  )

  /** Lists the additions of a round and the addresses of their sums. */
  function planRound(firstSum: number): void {
    let sum = firstSum
    let entry = 0
    for (let index = 0; index < activeCount; index++) {
      const segment = active[index] ?? 0
      const start = starts[segment] ?? 0
      const length = lengths[segment] ?? 0
      const half = length >> 1
      for (let pair = 0; pair < half; pair++) {
        const at = start + 2 * pair
        additions[entry] = items[at] ?? 0
        additions[entry + 1] = items[at + 1] ?? 0
        additions[entry + 2] = sum
        items[start + pair] = sum
        entry += 3
        sum += step
      }
      if (length & 1) items[start + half] = items[start + length - 1] ?? 0
      lengths[segment] = half + (length & 1)
    }
  }

  /** Removes sums that are the point at infinity. */
  function dropInfinite(): void {
    for (const segment of active.subarray(0, activeCount)) {
      const start = starts[segment] ?? 0
      const kept = items
        .slice(start, start + (lengths[segment] ?? 0))
        .filter((item) => !addition.infinite.has(item))
      items.set(kept, start)
      lengths[segment] = kept.length
    }
  }

  /** Keeps the lists that still have more than one point. */
  function keepActive(): void {
    let kept = 0
    pairCount = 0
    for (let index = 0; index < activeCount; index++) {
      const segment = active[index] ?? 0
      const length = lengths[segment] ?? 0
      if (length < 2) continue
      active[kept++] = segment
      pairCount += length >> 1
    }
    activeCount = kept
  }
}
