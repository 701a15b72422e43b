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
  const register = Uint8Array.from(
    seed.flatMap(([value, bits]) => Array.from({ length: bits }, (_, at) => (value >>> (bits - 1 - at)) & 1)),
  )
  let start = 0
  const tap = (at: number) => register[(start + at) % registerBits] ?? 0

  function clock(): number {
    const bit = tap(62) ^ tap(51) ^ tap(38) ^ tap(23) ^ tap(13) ^ tap(0)
    register[start] = bit
    start = (start + 1) % registerBits
    return bit
  }

  function number(): bigint {
    let text = '0b'
    for (let bits = 0; bits < numberBits; ) {
      const isUsed = clock() === 1
      const bit = clock()
      if (!isUsed) continue
      text += bit
      bits += 1
    }
    return BigInt(text)
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
