import { burnHash, checkPow, type PowPuzzle } from './burn-hash.js'
import { fieldPrime } from './poseidon.js'

/** A stretch of proof-of-work nonces. */
export type NonceRange = {
  readonly startNonce: number
  readonly maxTries: number
}

/**
 * The hot loop of this package: the first nonce of the range that passes the proof of work, or undefined.
 * Any faster implementation of this one function may take its place.
 */
export type PowKernel = (puzzle: PowPuzzle, range: NonceRange) => number | undefined

/** The portable kernel, in plain bigint arithmetic. */
export const findPowNonce: PowKernel = (puzzle, { startNonce, maxTries }) => {
  let secret = (puzzle.baseSecret + BigInt(startNonce)) % fieldPrime
  for (let tries = 0; tries < maxTries; tries++) {
    if (checkPow(burnHash(puzzle.generation, puzzle.recipientHash, secret), puzzle.powBits)) {
      return startNonce + tries
    }
    secret += 1n
    if (secret === fieldPrime) secret = 0n
  }
  return undefined
}
