import type { Field } from '../field.js'
import { at } from '../montgomery.js'
import type { Vector } from './linear.js'

/**
 * One input of an S-box: a sum of products and a constant. Scaling turns its first factor into 1, which is then left
 * out.
 */
export type Row = { readonly factors: Vector; readonly constant: bigint }

/** The factor between a stored number and the number in Poseidon's definition. */
export type Scale = { readonly by: bigint; readonly inverse: bigint }

export type ScaledRows = { readonly rows: readonly Row[]; readonly scales: readonly Scale[] }

/**
 * Every number that enters an S-box is scaled so that the first factor of its row is 1 and needs no product. Because
 * (s·x)^5 is s^5·x^5, the scale of an output is known and goes into the factors of the next rows.
 */
export type Scaling = {
  readonly unscaled: Scale
  /** The scale of an S-box's output, from the scale of its input. */
  boxed(scale: Scale): Scale
  /** Scales a row over numbers of these scales. Returns the scale of its result too. */
  scaleRow(row: Row, scales: readonly Scale[]): { readonly row: Row; readonly scale: Scale }
  scaleRows(rows: readonly Row[], scales: readonly Scale[]): ScaledRows
  times(...values: bigint[]): bigint
}

export function createScaling(field: Field): Scaling {
  const times = (...values: bigint[]) =>
    values.reduce((product, value) => (product * value) % field.prime, 1n)
  const fifth = (value: bigint) => times(value, value, value, value, value)
  const inverses = new Map<bigint, bigint>()
  const inverseOf = (value: bigint) => {
    const known = inverses.get(value) ?? field.inverse(value)
    inverses.set(value, known)
    return known
  }

  const scaleRow: Scaling['scaleRow'] = ({ factors, constant }, scales) => {
    const [head, headScale] = [at(factors, 0), at(scales, 0)]
    const scale = { by: times(headScale.by, inverseOf(head)), inverse: times(head, headScale.inverse) }
    const rest = factors
      .slice(1)
      .map((factor, index) => times(scale.by, factor, at(scales, index + 1).inverse))
    return { row: { factors: rest, constant: times(scale.by, constant) }, scale }
  }

  return {
    unscaled: { by: 1n, inverse: 1n },
    boxed: ({ by, inverse }) => ({ by: fifth(by), inverse: fifth(inverse) }),
    scaleRow,
    scaleRows(rows, scales) {
      const scaled = rows.map((row) => scaleRow(row, scales))
      return { rows: scaled.map(({ row }) => row), scales: scaled.map(({ scale }) => scale) }
    },
    times,
  }
}
