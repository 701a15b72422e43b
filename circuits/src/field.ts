import { fieldPrime } from '@svc-zerc20/zk'

/** Bytes of a field element. */
export const elementBytes = 32

/** The representative between zero and the prime. */
export function reduce(value: bigint): bigint {
  const rest = value % fieldPrime
  return rest < 0n ? rest + fieldPrime : rest
}

export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = reduce(base)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % fieldPrime
    square = (square * square) % fieldPrime
  }
  return result
}

export function inverse(value: bigint): bigint {
  return power(value, fieldPrime - 2n)
}

/** A root of unity of the given order, a power of two. Every tool of this curve uses the same one. */
export function rootOfUnity(order: number): bigint {
  return power(5n, (fieldPrime - 1n) / BigInt(order))
}

/** Little-endian, as the key and constraint files have it. */
export function readElement(bytes: Buffer, at: number): bigint {
  return (
    bytes.readBigUInt64LE(at) |
    (bytes.readBigUInt64LE(at + 8) << 64n) |
    (bytes.readBigUInt64LE(at + 16) << 128n) |
    (bytes.readBigUInt64LE(at + 24) << 192n)
  )
}

/** Little-endian, as the key and constraint files have it. */
export function writeElement(bytes: Buffer, at: number, value: bigint): void {
  for (let word = 0, rest = value; word < 4; word++, rest >>= 64n) {
    bytes.writeBigUInt64LE(rest & 0xffff_ffff_ffff_ffffn, at + 8 * word)
  }
}

/** Elements one after another. */
export function packElements(values: readonly bigint[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * elementBytes)
  for (const [at, value] of values.entries()) writeElement(bytes, at * elementBytes, value)
  return bytes
}
