import { fieldPrime, type G1, type G2, type Hex, type VerificationKey } from '@svc-zerc20/zk'
import { elementBytes, readElement, writeElement } from './field.js'
import { readSections, sectionOf, word32, writeSections } from './sections.js'

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
    // Hash of the constraints and list of contributions: both empty, nobody contributed.
    { type: 10, parts: [Buffer.alloc(64), word32(0)] },
  ])
}

/** What a key file says about itself. */
export type ZkeyHead = {
  readonly wires: number
  readonly publicSignals: number
  readonly domain: number
  readonly verificationKey: VerificationKey
}

/** Reads head and verification key of a key file. */
export function readZkeyHead(file: Buffer): ZkeyHead {
  const sections = readSections(file, 'zkey')
  const header = sectionOf(sections, 2)
  const headerStart = 2 * (4 + elementBytes)
  const publicSignals = header.readUInt32LE(headerStart + 4)
  const points = header.subarray(headerStart + 12)
  const ic = sectionOf(sections, 3)
  return {
    wires: header.readUInt32LE(headerStart),
    publicSignals,
    domain: header.readUInt32LE(headerStart + 8),
    verificationKey: {
      alpha: pointG1(points, 0),
      beta: pointG2(points, 128),
      gamma: pointG2(points, 256),
      delta: pointG2(points, 448),
      ic: Array.from({ length: publicSignals + 1 }, (_, at) => pointG1(ic, at * 64)),
    },
  }
}

const montgomeryInverse = (() => {
  // 2^-256 in the base field, by Fermat.
  let result = 1n
  let square = (1n << 256n) % baseFieldPrime
  for (let rest = baseFieldPrime - 2n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % baseFieldPrime
    square = (square * square) % baseFieldPrime
  }
  return result
})()

function coordinate(bytes: Buffer, at: number): Hex {
  const value = (readElement(bytes, at) * montgomeryInverse) % baseFieldPrime
  return `0x${value.toString(16).padStart(64, '0')}`
}

function pointG1(bytes: Buffer, at: number): G1 {
  return [coordinate(bytes, at), coordinate(bytes, at + 32)]
}

/** Files hold the real limb first, verifiers take the imaginary one first. */
function pointG2(bytes: Buffer, at: number): G2 {
  const [x0, x1, y0, y1] = [0, 32, 64, 96].map((offset) => coordinate(bytes, at + offset)) as [
    Hex,
    Hex,
    Hex,
    Hex,
  ]
  return [x1, x0, y1, y0]
}

/** How many participants, the beacon included, a key file has on record. */
export function contributionsOf(file: Buffer): number {
  const hashBytes = 64
  return sectionOf(readSections(file, 'zkey'), 10).readUInt32LE(hashBytes)
}
