/** Bytes of an instruction sequence, nested as it was composed. Flattened once, when the module is assembled. */
export type Code = number | readonly Code[]

export type ValueType = 'i32' | 'i64' | 'v128'

export const valueTypeByte: Record<ValueType, number> = { i32: 0x7f, i64: 0x7e, v128: 0x7b }

/** Unsigned LEB128, as every index and length of the format is written. */
export function unsigned(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  do {
    const low = rest % 128
    rest = Math.floor(rest / 128)
    bytes.push(rest > 0 ? low + 128 : low)
  } while (rest > 0)
  return bytes
}

/** Signed LEB128 of 32 bits, as most constants are written. */
function signed32(value: number): number[] {
  const bytes: number[] = []
  let rest = value | 0
  while (rest < -64 || rest > 63) {
    bytes.push((rest & 127) + 128)
    rest >>= 7
  }
  bytes.push(rest & 127)
  return bytes
}

/** Signed LEB128. */
function signed(value: bigint): number[] {
  const bytes: number[] = []
  let rest = value
  for (;;) {
    const low = Number(rest & 127n)
    rest >>= 7n
    const isLast = (rest === 0n && low < 64) || (rest === -1n && low >= 64)
    bytes.push(isLast ? low : low + 128)
    if (isLast) return bytes
  }
}

/** Writes nested code into one array. With an index, because this runs once, and iterators are slow until they are compiled. */
export function flatten(code: Code, into: number[] = []): number[] {
  if (typeof code === 'number') into.push(code)
  else for (let at = 0; at < code.length; at++) flatten(code[at] as Code, into)
  return into
}

const binary = (opcode: number) => (left: Code, right: Code) => [left, right, opcode]
const memory =
  (opcode: number, alignment: number) =>
  (address: Code, offset = 0) => [address, opcode, alignment, unsigned(offset)]
const memoryStore = (opcode: number, alignment: number) => (address: Code, value: Code, offset: number) => [
  address,
  value,
  opcode,
  alignment,
  unsigned(offset),
]

export const i32 = {
  const: (value: number): Code => [0x41, signed32(value)],
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  and: binary(0x71),
  shl: binary(0x74),
  shrU: binary(0x76),
  eq: binary(0x46),
  geU: binary(0x4f),
  eqz: (value: Code): Code => [value, 0x45],
  load: memory(0x28, 2),
  store: memoryStore(0x36, 2),
} as const

export const i64 = {
  const: (value: number | bigint): Code => [0x42, signed(BigInt(value))],
  add: binary(0x7c),
  sub: binary(0x7d),
  mul: binary(0x7e),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  rotl: binary(0x89),
  shl: binary(0x86),
  shrS: binary(0x87),
  shrU: binary(0x88),
  ltS: binary(0x53),
  eqz: (value: Code): Code => [value, 0x50],
  load: memory(0x29, 3),
  /** Four bytes, zero-extended. */
  load32U: memory(0x35, 2),
  store: memoryStore(0x37, 3),
  /** The low four bytes. */
  store32: memoryStore(0x3e, 2),
} as const

const simd = (opcode: number): Code => [0xfd, unsigned(opcode)]
const simdBinary = (opcode: number) => (left: Code, right: Code) => [left, right, simd(opcode)]

export const v128 = {
  /** Two 32-bit values into the low half, the high half zero. */
  load64Zero: (address: Code, offset = 0): Code => [address, simd(0x5d), 3, unsigned(offset)],
  load: (address: Code, offset = 0): Code => [address, simd(0x00), 4, unsigned(offset)],
  store: (address: Code, value: Code, offset: number): Code => [
    address,
    value,
    simd(0x0b),
    2,
    unsigned(offset),
  ],
  /** A 32-bit value into all lanes. */
  load32Splat: (address: Code, offset: number): Code => [address, simd(0x09), 2, unsigned(offset)],
  /** A 32-bit value into lane 0, the rest zero. */
  load32Zero: (address: Code, offset: number): Code => [address, simd(0x5c), 2, unsigned(offset)],
  /** `value` with a 32-bit lane replaced from memory. */
  load32Lane: (address: Code, value: Code, offset: number, lane: number): Code => [
    address,
    value,
    simd(0x56),
    2,
    unsigned(offset),
    lane,
  ],
  store32Lane: (address: Code, value: Code, offset: number, lane: number): Code => [
    address,
    value,
    simd(0x5a),
    2,
    unsigned(offset),
    lane,
  ],
  store64Low: (address: Code, value: Code, offset: number): Code => [
    address,
    value,
    simd(0x5b),
    3,
    unsigned(offset),
    0,
  ],
  constant: (value: bigint): Code => [
    simd(0x0c),
    Array.from({ length: 16 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n)),
  ],
  and: simdBinary(0x4e),
  /** The bytes of both operands picked by index. */
  shuffle: (left: Code, right: Code, picks: readonly number[]): Code => [left, right, simd(0x0d), picks],
} as const

export const i32x4 = {
  add: simdBinary(0xae),
} as const

export const i64x2 = {
  add: simdBinary(0xce),
  sub: simdBinary(0xd1),
  /** All ones in the lanes where the comparison is true. */
  ltS: simdBinary(0xd8),
  shl: (value: Code, bits: number): Code => [value, i32.const(bits), simd(0xcb)],
  shrU: (value: Code, bits: number): Code => [value, i32.const(bits), simd(0xcd)],
  /** The two low 32-bit lanes, zero-extended. */
  extendLow: (value: Code): Code => [value, simd(0xc9)],
  /** The two high 32-bit lanes, zero-extended. */
  extendHigh: (value: Code): Code => [value, simd(0xca)],
  /** Products of the two low 32-bit lanes, each 64 bits wide. */
  extmulLow: simdBinary(0xde),
} as const

export const control = {
  call: (func: number, ...args: Code[]): Code => [args, 0x10, unsigned(func)],
  /** Runs the body over and over until `leaveIf(1, …)` inside it. */
  forever: (body: Code): Code => [0x02, 0x40, 0x03, 0x40, body, 0x0c, 0, 0x0b, 0x0b],
  if: (condition: Code, body: Code, otherwise?: Code): Code => [
    condition,
    0x04,
    0x40,
    body,
    otherwise === undefined ? [] : [0x05, otherwise],
    0x0b,
  ],
  /** Leaves `depth` enclosing blocks if the condition holds. */
  leaveIf: (depth: number, condition: Code): Code => [condition, 0x0d, unsigned(depth)],
  return: (value: Code): Code => [value, 0x0f],
  /** Copies bytes between places that are known when the code is generated. */
  copy: (to: number, from: number, bytes: number): Code => [
    [to, from, bytes].map(i32.const),
    [0xfc, 0x0a, 0, 0],
  ],
  /** Sets bytes to zero. */
  clear: (address: number, bytes: number): Code => [[address, 0, bytes].map(i32.const), [0xfc, 0x0b, 0]],
} as const
