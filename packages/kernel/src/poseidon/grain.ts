/** Bits of the register, of the numbers drawn, and clocks before the first output. */
const registerBits = 80
const numberBits = 254
const warmUpClocks = 160

/** Numbers that nobody chose, from which Poseidon takes its constants. */
export type Grain = {
  /** A number below the prime; larger ones are skipped. */
  below(prime: bigint): bigint
  /** 254 bits modulo the prime. */
  modulo(prime: bigint): bigint
}

/**
 * The Grain shift register that Poseidon's definition seeds with its own parameters, in self-shrinking mode: of every
 * two bits, the first says whether the second is used.
 */
export function createGrain(width: number, fullRounds: number, partialRounds: number): Grain {
  const seed: readonly (readonly [value: number, bits: number])[] = [
    [1, 2], // a prime field
    [0, 4], // an S-box that is a power
    [numberBits, 12],
    [width, 12],
    [fullRounds, 10],
    [partialRounds, 10],
    [2 ** 30 - 1, 30],
  ]
  /** The register's bits and all that were shifted in, of which `end` are filled. */
  let bits = Uint8Array.from(
    seed.flatMap(([value, length]) => Array.from({ length }, (_, at) => (value >>> (length - 1 - at)) & 1)),
  )
  let end = registerBits

  const tap = (at: number) => bits[end - registerBits + at] ?? 0

  function clock(): number {
    if (end === bits.length) {
      const longer = new Uint8Array(2 * bits.length)
      longer.set(bits)
      bits = longer
    }
    const bit = tap(62) ^ tap(51) ^ tap(38) ^ tap(23) ^ tap(13) ^ tap(0)
    bits[end] = bit
    end += 1
    return bit
  }

  function number(): bigint {
    const digits: number[] = []
    for (let bitCount = 0, digit = 0; bitCount < numberBits; ) {
      const isUsed = clock() === 1
      const bit = clock()
      if (!isUsed) continue
      digit = 2 * digit + bit
      bitCount += 1
      // 254 bits: a digit of two bits, then 63 of four.
      if (bitCount % 4 === numberBits % 4) {
        digits.push(digit)
        digit = 0
      }
    }
    return BigInt(`0x${digits.map((digit) => digit.toString(16)).join('')}`)
  }

  for (let clocks = 0; clocks < warmUpClocks; clocks++) clock()
  return {
    below(prime) {
      for (;;) {
        const drawn = number()
        if (drawn < prime) return drawn
      }
    },
    modulo: (prime) => number() % prime,
  }
}
