// A verification key as the proof verifiers' constructors take it.

type Word = `0x${string}`

/** Points as 32-byte words; those of the second group with their imaginary limbs first. */
export type KeyWords = {
  readonly alpha: readonly [Word, Word]
  readonly beta: readonly [Word, Word, Word, Word]
  readonly gamma: readonly [Word, Word, Word, Word]
  readonly delta: readonly [Word, Word, Word, Word]
  readonly ic: readonly (readonly [Word, Word])[]
}

/** The constructor argument `key` of `WithdrawVerifier` and `RootVerifier`. */
export function keyArgument({ alpha, beta, gamma, delta, ic }: KeyWords) {
  return { alpha: g1(alpha), beta: g2(beta), gamma: g2(gamma), delta: g2(delta), ic: ic.map(g1) }
}

function g1([x, y]: KeyWords['alpha']) {
  return { x: BigInt(x), y: BigInt(y) }
}

function g2([xImaginary, xReal, yImaginary, yReal]: KeyWords['beta']) {
  return {
    xImaginary: BigInt(xImaginary),
    xReal: BigInt(xReal),
    yImaginary: BigInt(yImaginary),
    yReal: BigInt(yReal),
  }
}
