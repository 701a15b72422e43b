import { fieldPrime } from '@svc-zerc20/zk'
import { elementBytes, writeElement } from '../field.js'
import { word32, writeSections } from './sections.js'

/** Order of the field that the curve's coordinates are in. */
const baseFieldPrime = 21888242871839275222246405745257275088696311157297823662689037894645226208583n

/** A Groth16 key in pieces, points affine in Montgomery form. */
export type ProvingKey = {
  readonly wires: number
  readonly publicSignals: number
  readonly domain: number
  /** alpha, beta, delta. */
  readonly headG1: Uint8Array
  /** beta, gamma, delta. */
  readonly headG2: Uint8Array
  readonly ic: readonly Uint8Array[]
  readonly coefficients: Uint8Array
  readonly a: readonly Uint8Array[]
  readonly b1: readonly Uint8Array[]
  readonly b2: readonly Uint8Array[]
  readonly c: readonly Uint8Array[]
  readonly h: readonly Uint8Array[]
}

/** The key as a file that snarkjs reads too, in pieces to be written one after another. */
export function encodeZkey(key: ProvingKey): Uint8Array[] {
  const { headG1, headG2 } = key
  const [alpha1, beta1, delta1] = [0, 64, 128].map((at) => headG1.subarray(at, at + 64))
  const [beta2, gamma2, delta2] = [0, 128, 256].map((at) => headG2.subarray(at, at + 128))
  const order = (prime: bigint) => {
    const bytes = Buffer.alloc(elementBytes)
    writeElement(bytes, 0, prime)
    return [word32(elementBytes), bytes]
  }
  const points = [alpha1, beta1, beta2, gamma2, delta1, delta2].filter((point) => point !== undefined)
  const header = [
    ...order(baseFieldPrime),
    ...order(fieldPrime),
    ...[key.wires, key.publicSignals, key.domain].map(word32),
    ...points,
  ]
  const groth16 = 1
  return writeSections('zkey', 1, [
    { type: 1, parts: [word32(groth16)] },
    { type: 2, parts: header },
    { type: 3, parts: key.ic },
    { type: 4, parts: [key.coefficients] },
    { type: 5, parts: key.a },
    { type: 6, parts: key.b1 },
    { type: 7, parts: key.b2 },
    { type: 8, parts: key.c },
    { type: 9, parts: key.h },
    // Hash of the constraints and list of contributions, both empty for a development key.
    { type: 10, parts: [Buffer.alloc(64), word32(0)] },
  ])
}
