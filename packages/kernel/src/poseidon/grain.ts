/** Bits of the register, of the numbers drawn, and clocks before the first output. */
const registerBits = 80
const numberBits = 254
const warmUpClocks = 160
/** Bits made at once: no more than lie between the highest tap and the end of the register. */
const chunkBits = 16
const chunkMask = 2 ** chunkBits - 1

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
  /** The register in chunks, oldest bits first and highest. */
  const chunks = new Uint16Array(registerBits / chunkBits)
  const bits = seed.flatMap(([value, length]) =>
    Array.from({ length }, (_, at) => (value >>> (length - 1 - at)) & 1),
  )
  for (const [at, bit] of bits.entries()) {
    const chunk = Math.floor(at / chunkBits)
    chunks[chunk] = (((chunks[chunk] ?? 0) << 1) | bit) & chunkMask
  }

  /** The bits of the register from a place. */
  function window(from: number): number {
    const chunk = Math.floor(from / chunkBits)
    const skipped = from % chunkBits
    const both = ((chunks[chunk] ?? 0) << chunkBits) | (chunks[chunk + 1] ?? 0)
    return (both >>> (chunkBits - skipped)) & chunkMask
  }

  function nextChunk(): number {
    const next = window(62) ^ window(51) ^ window(38) ^ window(23) ^ window(13) ^ window(0)
    chunks.copyWithin(0, 1)
    chunks[chunks.length - 1] = next
    return next
  }

  let chunk = 0
  let unread = 0
  function number(): bigint {
    let text = '0b'
    while (text.length < numberBits + 2) {
      if (unread === 0) {
        chunk = nextChunk()
        unread = chunkBits
      }
      unread -= 2
      const pair = (chunk >>> unread) & 3
      if (pair >= 2) text += pair === 3 ? '1' : '0'
    }
    return BigInt(text)
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
