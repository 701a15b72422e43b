import { createHash } from 'node:crypto'

/** A random source that gives the same bytes for the same seed. At most 32 bytes a call. */
export function seededRandom(seed: number): { bytes(length: number): Uint8Array } {
  let calls = 0
  return {
    bytes(length) {
      calls += 1
      return new Uint8Array(createHash('sha256').update(`${seed}/${calls}`).digest().subarray(0, length))
    },
  }
}
