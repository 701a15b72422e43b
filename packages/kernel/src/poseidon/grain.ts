/** Bits of the numbers drawn, and clocks before the first output. */
const numberBits = 254
const warmUpClocks = 160
/** Bits generated at once: a fifth of the register, and at most the distance between its highest tap and its end. */
const chunkBits = 16
const chunkMask = 2 ** chunkBits - 1
/** Bits of a number that are first collected in a small integer. */
const digitBits = 30

/** One chunk's worth of bits that starts inside `first` and continues in `second`. */
const across = (first: number, second: number, from: number) =>
  (first << from) | (second >>> (chunkBits - from))

/** The generator of Poseidon's constants: numbers that nobody could choose. */
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
  const bits = seed.flatMap(([value, length]) =>
    Array.from({ length }, (_, at) => (value >>> (length - 1 - at)) & 1),
  )
  const chunkAt = (index: number) => {
    const ofChunk = bits.slice(index * chunkBits, (index + 1) * chunkBits)
    return ofChunk.reduce((chunk, bit) => 2 * chunk + bit, 0)
  }
  // The register in chunks, oldest first and with its oldest bit highest.
  let [a, b, c, d, e] = [chunkAt(0), chunkAt(1), chunkAt(2), chunkAt(3), chunkAt(4)]

  /** The next bits: sums of those at places 0, 13, 23, 38, 51 and 62 of the register. */
  function nextChunk(): number {
    const next =
      a ^
      across(a, b, 13) ^
      across(b, c, 23 - 16) ^
      across(c, d, 38 - 32) ^
      across(d, e, 51 - 48) ^
      across(d, e, 62 - 48)
    a = b
    b = c
    c = d
    d = e
    e = next & chunkMask
    return e
  }

  let chunk = 0
  let unread = 0
  function number(): bigint {
    let value = 0n
    let digit = 0
    for (let bitCount = 0; bitCount < numberBits; ) {
      if (unread === 0) {
        chunk = nextChunk()
        unread = chunkBits
      }
      unread -= 2
      const pair = (chunk >>> unread) & 3
      if (pair < 2) continue
      digit = (digit << 1) | (pair & 1)
      bitCount += 1
      if (bitCount % digitBits !== numberBits % digitBits) continue
      value = (value << BigInt(digitBits)) | BigInt(digit)
      digit = 0
    }
    return value
  }

  for (let clocks = 0; clocks < warmUpClocks; clocks += chunkBits) nextChunk()
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
