/** All chance of a simulation, from one seed. */
import { seeded } from '../../../../test/support/seeded.js'

export type Draws = ReturnType<typeof createDraws>

export function createDraws(seed: number) {
  /** In [0, 1). */
  const fraction = seeded(Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635)

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
