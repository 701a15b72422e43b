import { addressBits, burnDomain, type PowPuzzle, secretAt } from './burn-hash.js'
import { poseidon } from './poseidon.js'

/** A range of powNonces. */
export type NonceRange = {
  readonly startNonce: number
  readonly maxTries: number
}

/**
 * The hot loop of this package: finds the first powNonce of the range that passes the proof of work, or undefined. Searches
 * in generated WebAssembly, and blocks its thread until the end.
 */
export function findPowNonce(puzzle: PowPuzzle, { startNonce, maxTries }: NonceRange): number | undefined {
  const { generation, recipientHash, powBits } = puzzle
  const found = poseidon.findNonce({
    fixed: generation === 1 ? [recipientHash] : [burnDomain, recipientHash],
    start: secretAt(puzzle, startNonce),
    tries: maxTries,
    fromBit: addressBits,
    zeroBits: powBits,
  })
  return found === undefined ? undefined : startNonce + found
}
