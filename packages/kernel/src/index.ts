export { type Curve, g1, g2 } from './curve/curve.js'
export type { Group, Point } from './curve/group.js'
export { createMultiScalar, type MultiScalar } from './curve/multi-scalar.js'
export type { Complex } from './curve/numbers.js'
export { baseBytes, keyPointBytes } from './curve/point-functions.js'
export { createPointMemory, type PointMemory } from './curve/point-memory.js'
export { readElement, writeElement } from './element.js'
export {
  basePrime,
  createField,
  elementBytes,
  type Field,
  limbBits,
  limbCount,
  limbsOf,
  numberOf,
  scalarPrime,
} from './field.js'
export {
  defineField,
  type FieldFunctionOptions,
  type FieldFunctions,
  paddedMultiple,
  storeCarried,
} from './field-functions.js'
export { keccak256 } from './keccak.js'
export { type Lanes, pair, single } from './lanes.js'
export {
  type Arithmetic,
  type Columns,
  karatsubaColumns,
  keep,
  type Limbs,
  loadElement,
  type Prepared,
  productColumns,
  reduce,
  squareColumns,
} from './montgomery.js'
export { createPoseidon, type NonceSearch, type Poseidon } from './poseidon.js'
export { type ConstraintTerm, createQuotient, type Quotient } from './quotient/quotient.js'
export { createRecover, type Recovered } from './secp256k1/recover.js'
export { type Code, control, i32, i64, i64x2, type ValueType, v128 } from './wasm/code.js'
export { createMemory, instantiate, pageBytes, type WasmMemory } from './wasm/instance.js'
export {
  createModule,
  type FunctionScope,
  type FunctionSpec,
  type Local,
  type ModuleBuilder,
} from './wasm/module.js'
