/** Bits of a scalar, and one more for the last carry. */
const scalarBits = 255
const scalarWords = 8

/** Scalars cut into signed digits: scalar = Σ digit(window) · 2^(bits · window). */
export type Digits = {
  readonly bits: number
  readonly windows: number
  /** Digits of all scalars, window by window; from −2^(bits−1) to 2^(bits−1) − 1. */
  readonly values: Int16Array
}

/** Scalars are eight little-endian 32-bit words each. They must be reduced, so that the last window has no carry. */
export function cutIntoDigits(scalars: Uint32Array, bits: number): Digits {
  const count = scalars.length / scalarWords
  const windows = Math.ceil(scalarBits / bits)
  const values = new Int16Array(windows * count)
  const [half, full, mask] = [2 ** (bits - 1), 2 ** bits, 2 ** bits - 1]
  for (let scalar = 0; scalar < count; scalar++) {
    const first = scalar * scalarWords
    let carry = 0
    for (let window = 0; window < windows; window++) {
      const bit = window * bits
      const word = first + (bit >>> 5)
      const shift = bit & 31
      let piece = (scalars[word] ?? 0) >>> shift
      if (shift + bits > 32 && bit < 224) piece |= (scalars[word + 1] ?? 0) << (32 - shift)
      let digit = (piece & mask) + carry
      carry = 0
      if (digit >= half) {
        digit -= full
        carry = 1
      }
      values[window * count + scalar] = digit
    }
  }
  return { bits, windows, values }
}

/**
 * The digit size that needs the fewest additions. Each digit costs one addition, and each bucket of a window costs two
 * more when the buckets are summed with their weights.
 */
export function bestDigitBits(scalarCount: number): number {
  const cost = (bits: number) => Math.ceil(scalarBits / bits) * (scalarCount + 2 * 2 ** (bits - 1))
  let best = 2
  for (let bits = 3; bits <= 16; bits++) if (cost(bits) < cost(best)) best = bits
  return best
}
