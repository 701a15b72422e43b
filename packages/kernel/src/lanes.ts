import { type Code, i32x4, i64, i64x2, type ValueType, v128 } from './wasm/code.js'

/**
 * How generated code works on one element, or on two at once. An operand is a limb that can be multiplied. A sum is the
 * 64-bit number that products and carries are added to.
 */
export type Lanes = {
  readonly count: number
  /** Type of locals, for operands and for sums. */
  readonly type: ValueType
  /** Bytes of one limb of all lanes. */
  readonly limbBytes: number
  /** One of these lanes alone. Its element begins four bytes behind that of the lane before it. */
  readonly one: Lanes
  /** Bytes of a sum of all lanes. */
  readonly sumBytes: number
  /** An operand from memory. */
  load(address: Code, limb: number): Code
  /** An operand to memory. */
  store(address: Code, limb: number, operand: Code): Code
  /** A sum from memory, and back. */
  loadSum(address: Code, index: number): Code
  storeSum(address: Code, index: number, sum: Code): Code
  /** A limb, the same in all lanes, as an operand. */
  constant(limb: number): Code
  /** A number of 64 bits, the same in all lanes, as a sum. */
  sumConstant(value: bigint): Code
  /** The low 32 bits of a sum as an operand. */
  narrow(sum: Code): Code
  /** An operand as a sum. */
  widen(operand: Code): Code
  /** Operands added to an operand; below 2^32. */
  addOperands(left: Code, right: Code): Code
  /** Product of two operands: a sum. */
  multiply(left: Code, right: Code): Code
  add(left: Code, right: Code): Code
  subtract(left: Code, right: Code): Code
  shiftLeft(sum: Code, bits: number): Code
  shiftRight(sum: Code, bits: number): Code
  /** The low bits of a sum. */
  low(sum: Code, bits: number): Code
}

const maskOf = (bits: number) => (1n << BigInt(bits)) - 1n

/** One element at a time, in 64-bit integers. Between its limbs are those of `among` − 1 others. */
function alone(among: number): Lanes {
  const limbBytes = 4 * among
  const lanes: Lanes = {
    count: 1,
    type: 'i64',
    limbBytes,
    sumBytes: 8,
    get one() {
      return lanes
    },
    load: (address, limb) => i64.load32U(address, limbBytes * limb),
    store: (address, limb, operand) => i64.store32(address, operand, limbBytes * limb),
    loadSum: (address, index) => i64.load(address, 8 * index),
    storeSum: (address, index, sum) => i64.store(address, sum, 8 * index),
    constant: i64.const,
    sumConstant: (value) => i64.const(BigInt.asIntN(64, value)),
    narrow: (sum) => sum,
    widen: (operand) => operand,
    addOperands: i64.add,
    multiply: i64.mul,
    add: i64.add,
    subtract: i64.sub,
    shiftLeft: (sum, bits) => i64.shl(sum, i64.const(bits)),
    shiftRight: (sum, bits) => i64.shrU(sum, i64.const(bits)),
    low: (sum, bits) => i64.and(sum, i64.const(maskOf(bits))),
  }
  return lanes
}

export const single: Lanes = alone(1)

/** Picks the low 32 bits of both 64-bit lanes into the low half. */
const evenWords = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]

/** Two elements at once, their limbs alternating in memory. */
export const pair: Lanes = {
  count: 2,
  type: 'v128',
  limbBytes: 8,
  sumBytes: 16,
  one: alone(2),
  load: (address, limb) => v128.load64Zero(address, 8 * limb),
  store: (address, limb, operand) => v128.store64Low(address, operand, 8 * limb),
  loadSum: (address, index) => v128.load(address, 16 * index),
  storeSum: (address, index, sum) => v128.store(address, sum, 16 * index),
  constant: (limb) => v128.constant(BigInt(limb) | (BigInt(limb) << 32n)),
  sumConstant: (value) => v128.constant(BigInt.asUintN(64, value) * (1n + (1n << 64n))),
  narrow: (sum) => v128.shuffle(sum, sum, evenWords),
  widen: i64x2.extendLow,
  addOperands: i32x4.add,
  multiply: i64x2.extmulLow,
  add: i64x2.add,
  subtract: i64x2.sub,
  shiftLeft: i64x2.shl,
  shiftRight: i64x2.shrU,
  low: (sum, bits) => v128.and(sum, pair.sumConstant(maskOf(bits))),
}
