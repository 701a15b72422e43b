import { createPoseidon, scalarPrime } from '@svc-zerc20/kernel'

/** Order of the BN254 scalar field, in which all of zERC20's circuit arithmetic happens. */
export const fieldPrime = scalarPrime

/** Poseidon with circomlib's parameters. Its code is generated on first use. */
export const poseidon = createPoseidon()

/** The hash of two field elements. */
export const hash2: (a: bigint, b: bigint) => bigint = poseidon.hash2

/** The hash of three field elements. */
export const hash3: (a: bigint, b: bigint, c: bigint) => bigint = poseidon.hash3
