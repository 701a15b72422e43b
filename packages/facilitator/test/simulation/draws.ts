/** All chance of a simulation, from one seed. */

export type Draws = ReturnType<typeof createDraws>

export function createDraws(seed: number) {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635) >>> 0

  /** In [0, 1). Mulberry32: small, quick, and good enough to choose faults by. */
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number between both, both included. */
  const between = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1))

  return {
    fraction,
    between,
    /** True as often as the share says. Draws nothing for a share of zero, so that a fault that is off changes nothing. */
    happens: (share: number): boolean => share > 0 && fraction() < share,
    oneOf<T>(items: readonly T[]): T {
      const item = items[Math.floor(fraction() * items.length)]
      if (item === undefined) throw new Error('nothing to draw from')
      return item
    },
    hex: (bytes: number): `0x${string}` =>
      `0x${Array.from({ length: bytes }, () => between(0, 255).toString(16).padStart(2, '0')).join('')}`,
  }
}
