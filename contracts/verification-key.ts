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

/** The words that a proof verifier of this key carries in its code, by the names of its immutables. */
export function keyImmutables({ alpha, beta, gamma, delta, ic }: KeyWords): Readonly<Record<string, Word>> {
  const points: Record<string, Word> = { _alphaX: alpha[0], _alphaY: alpha[1] }
  for (const [name, words] of Object.entries({ beta, gamma, delta })) {
    const [xImaginary, xReal, yImaginary, yReal] = words
    points[`_${name}XImaginary`] = xImaginary
    points[`_${name}XReal`] = xReal
    points[`_${name}YImaginary`] = yImaginary
    points[`_${name}YReal`] = yReal
  }
  for (const [i, [x, y]] of ic.entries()) {
    points[`_x${i}`] = x
    points[`_y${i}`] = y
  }
  return points
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
