import { poseidon2 } from 'poseidon-lite/poseidon2'
import { poseidon3 } from 'poseidon-lite/poseidon3'

/** Order of the BN254 scalar field, in which all of zERC20's circuit arithmetic happens. */
export const fieldPrime = 21888242871839275222246405745257275088548364400416034343698204186575808495617n

/** Poseidon with circomlib's parameters over two field elements. */
export function hash2(a: bigint, b: bigint): bigint {
  return poseidon2([a, b])
}

/** Poseidon with circomlib's parameters over three field elements. */
export function hash3(a: bigint, b: bigint, c: bigint): bigint {
  return poseidon3([a, b, c])
}
