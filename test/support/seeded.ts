/** Numbers in [0, 1) that a seed repeats. Mulberry32: small, quick, and good enough to choose faults by. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws without putting back, so that few draws show every choice, and begins again when all were drawn. */
export function drawing<T>(choices: readonly T[], random: () => number): () => T {
  let left: T[] = []
  return () => {
    if (left.length === 0) left = [...choices]
    return left.splice(Math.floor(random() * left.length), 1)[0] as T
  }
}
