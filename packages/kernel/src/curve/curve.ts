import { basePrime, createField } from '../field.js'
import type { CoordinateShape } from './coordinate.js'
import { createGroup, type Group } from './group.js'
import { type Complex, createExtensionNumbers, createPrimeNumbers } from './numbers.js'

/** A group of points: how they lie in memory, and the same group over JavaScript numbers. */
export type Curve<Value> = { readonly shape: CoordinateShape; readonly group: Group<Value> }

const field = createField(basePrime)

/** BN254's first group. */
export const g1: Curve<bigint> = {
  shape: { field, degree: 1 },
  group: createGroup(createPrimeNumbers(basePrime)),
}

/** BN254's second group. */
export const g2: Curve<Complex> = {
  shape: { field, degree: 2 },
  group: createGroup(createExtensionNumbers(basePrime)),
}
