import { addressBits, burnDomain, type PowPuzzle, secretAt } from './burn-hash.js'
import { poseidon } from './poseidon.js'

/** A stretch of proof-of-work nonces. */
export type NonceRange = {
  readonly startNonce: number
  readonly maxTries: number
}

/**
 * The hot loop of this package: the first nonce of the range that passes the proof of work, or undefined.
 * Any other implementation of this one function may take its place.
 */
export type PowKernel = (puzzle: PowPuzzle, range: NonceRange) => number | undefined

/** Searches in generated WebAssembly; the thread is busy until it ends. */
export const findPowNonce: PowKernel = (puzzle, { startNonce, maxTries }) => {
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
