/** Numbers modulo the order of secp256k1: what a signature's point and the generator are multiplied with, in digits. */
import { inverseModulo } from '../field.js'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Numbers are cut into digits of five bits, from −16 to 15. */
export const digitBits = 5
export const digitMax = 2 ** (digitBits - 1)
/** Of a half number, which has at most 129 bits with its carry. */
export const digitCount = 26

export type Signature = {
  readonly digest: bigint
  readonly r: bigint
  readonly s: bigint
  /** The parity of the y of the signature's point. */
  readonly isOdd: boolean
}

export type Inverted = Signature & { readonly of: Signature; readonly inverse: bigint }
type Factors = { readonly u1: bigint; readonly u2: bigint }

export const isInRange = ({ r, s }: Signature): boolean => r > 0n && r < order && s > 0n && s < order

/** The inverses of all r, by one division: each is the inverse of their product times all others. */
export function invertAll(signatures: readonly Signature[]): Inverted[] {
  const before: bigint[] = []
  let product = 1n
  for (const { r } of signatures) {
    before.push(product)
    product = (product * r) % order
  }
  let inverse = inverseModulo(product, order)
  return signatures
    .map((signature, i) => ({ signature, product: before[i] ?? 1n }))
    .reverse()
    .map(({ signature, product }) => {
      const own = (inverse * product) % order
      inverse = (inverse * signature.r) % order
      return { ...signature, of: signature, inverse: own }
    })
}

/** The key is u1 times the generator and u2 times the signature's point. */
const factorsOf = ({ digest, s, inverse }: Inverted): Factors => ({
  u1: ((order - (digest % order)) * inverse) % order,
  u2: (s * inverse) % order,
})

/** Short vectors of the lattice of (a, b) with a + bλ = 0: (a1, −b1) and (a2, a1). */
const lattice = {
  a1: 0x3086d221a7d46bcde86c90e49284eb15n,
  b1: 0xe4437ed6010e88286f547fa90abfe4c3n,
  a2: 0x114ca50f7a8e2f3f657c1108d9d44cfd8n,
}

/** Two numbers of at most 128 bits, of either sign: the first and λ times the second make the whole. */
function split(whole: bigint): [bigint, bigint] {
  const { a1, b1, a2 } = lattice
  const half = order >> 1n
  const c1 = (a1 * whole + half) / order
  const c2 = (b1 * whole + half) / order
  return [whole - c1 * a1 - c2 * a2, c1 * b1 - c2 * a1]
}

const pieceDigits = 6
const pieceBits = BigInt(digitBits * pieceDigits)
const pieceMask = (1n << pieceBits) - 1n

/** The digits of the halves of both factors of a signature, the generator's first, each lowest first. */
export function digitsOf(signature: Inverted): Int8Array {
  const { u1, u2 } = factorsOf(signature)
  const digits = new Int8Array(4 * digitCount)
  for (const [half, value] of [...split(u1), ...split(u2)].entries()) {
    writeDigits(digits.subarray(half * digitCount, (half + 1) * digitCount), value)
  }
  return digits
}

function writeDigits(digits: Int8Array, value: bigint): void {
  const sign = value < 0n ? -1 : 1
  let rest = value < 0n ? -value : value
  let carry = 0
  for (let at = 0; at < digitCount; rest >>= pieceBits) {
    let piece = Number(rest & pieceMask)
    for (let left = pieceDigits; left > 0 && at < digitCount; left--) {
      let digit = (piece & (2 ** digitBits - 1)) + carry
      carry = digit >= digitMax ? 1 : 0
      if (carry === 1) digit -= 2 ** digitBits
      digits[at++] = sign * digit
      piece >>= digitBits
    }
  }
}
