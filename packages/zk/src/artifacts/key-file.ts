/**
 * Reads head, verification key and ceremony record of a proving-key file. The file is a sequence of numbered sections:
 * 2 is the head, 3 holds the points of the public signals, 10 the record. Coordinates are little-endian in Montgomery
 * form.
 */
import { createHash } from 'node:crypto'
import { bigEndian, type Hex, hexOf } from '../hex.js'
import { ArtifactError } from './artifact-error.js'
import type { G1, G2, VerificationKey } from './verification-key.js'

/** One step of a ceremony, as recorded in the key file. */
export type Contribution = {
  /** BLAKE2b-512 of the step's points and transcript, in lower-case hexadecimal. The participant published it. */
  readonly hash: string
  /** Name that the participant gave. No hash covers it. */
  readonly name: string
  /** True for a beacon: its secret is computed from a public value, so it keeps nothing from an attacker. */
  readonly beacon: boolean
  /** The beacon's public value, and how often it was hashed. */
  readonly publicValue?: PublicValue
}

/** The public value behind a beacon. */
export type PublicValue = {
  /** Lower-case hexadecimal, no prefix. */
  readonly hex: string
  /** The value was hashed 2^iterationsExponent times. */
  readonly iterationsExponent: number
}

/** Head and record of a key file. */
export type KeyFile = {
  readonly wires: number
  readonly publicSignals: number
  readonly domain: number
  readonly verificationKey: VerificationKey
  /** In the order of the ceremony. Empty for a development setup. */
  readonly contributions: readonly Contribution[]
}

const headSection = 2
const publicSignalsSection = 3
const ceremonySection = 10
const sectionHeaderBytes = 12
const wordBytes = 32
const g1Bytes = 2 * wordBytes
const g2Bytes = 4 * wordBytes
const hashBytes = 64
/** Length of the orders of both fields, each preceded by its own length. */
const ordersBytes = 2 * (4 + wordBytes)

/** Order of the field that the curve's coordinates are in. */
const baseFieldPrime = 21888242871839275222246405745257275088696311157297823662689037894645226208583n

/** Reads head, verification key and record of a key file. Throws `ArtifactError`. */
export function readKeyFile(bytes: Uint8Array): KeyFile {
  try {
    return readSections(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  } catch (cause) {
    if (cause instanceof ArtifactError) throw cause
    throw new ArtifactError('artifacts_malformed', 'the proving key is no complete key file', { cause })
  }
}

function readSections(file: Buffer): KeyFile {
  if (file.toString('latin1', 0, 4) !== 'zkey') throw malformed('the proving key is no key file')
  const sections = new Map<number, Buffer>()
  for (let left = file.readUInt32LE(8), at = sectionHeaderBytes; left > 0; left--) {
    const type = file.readUInt32LE(at)
    const start = at + sectionHeaderBytes
    at = start + Number(file.readBigUInt64LE(start - 8))
    // A section that occurs twice is refused: another reader might use the other copy.
    if (sections.has(type)) throw malformed(`the proving key has section ${type} twice`)
    if (at > file.length) throw malformed('the proving key is cut short')
    sections.set(type, file.subarray(start, at))
  }
  const section = (type: number): Buffer => {
    const found = sections.get(type)
    if (found === undefined) throw malformed(`the proving key has no section ${type}`)
    return found
  }
  const { delta1, ...head } = readHead(section(headSection), section(publicSignalsSection))
  return { ...head, contributions: readRecord(section(ceremonySection), delta1) }
}

function readHead(head: Buffer, ic: Buffer): Omit<KeyFile, 'contributions'> & { readonly delta1: Buffer } {
  const publicSignals = head.readUInt32LE(ordersBytes + 4)
  const points = head.subarray(ordersBytes + 12)
  const beta = 2 * g1Bytes
  const delta1 = beta + 2 * g2Bytes
  return {
    wires: head.readUInt32LE(ordersBytes),
    publicSignals,
    domain: head.readUInt32LE(ordersBytes + 8),
    delta1: points.subarray(delta1, delta1 + g1Bytes),
    verificationKey: {
      alpha: pointG1(points, 0),
      beta: pointG2(points, beta),
      gamma: pointG2(points, beta + g2Bytes),
      delta: pointG2(points, delta1 + g1Bytes),
      ic: Array.from({ length: publicSignals + 1 }, (_, at) => pointG1(ic, at * g1Bytes)),
    },
  }
}

/** Reads the record. Its last delta must be the key's delta, so the record of another ceremony is refused. */
function readRecord(record: Buffer, delta1: Buffer): Contribution[] {
  const contributions: Contribution[] = []
  const transcriptAt = 3 * g1Bytes + g2Bytes
  let at = hashBytes + 4
  for (let left = record.readUInt32LE(hashBytes); left > 0; left--) {
    const body = record.subarray(at, at + transcriptAt + hashBytes)
    at += body.length
    const kind = record.readUInt32LE(at)
    const length = record.readUInt32LE(at + 4)
    at += 8 + length
    if (at > record.length || kind > 1) throw malformed('the record of the ceremony is damaged')
    const { name, publicValue } = readParameters(record.subarray(at - length, at))
    const beacon = kind === 1
    contributions.push({ hash: hashOf(body), name, beacon, ...(beacon && publicValue && { publicValue }) })
    if (left === 1 && !body.subarray(0, g1Bytes).equals(delta1)) {
      throw malformed('the record of the ceremony is that of another key')
    }
  }
  return contributions
}

/** Points are hashed as plain big-endian numbers, although the file holds them in Montgomery form. */
function hashOf(body: Buffer): string {
  const [first, second, third] = [0, 1, 2].map((point) => pointG1(body, point * g1Bytes))
  const last = pointG2(body, 3 * g1Bytes)
  const hash = createHash('blake2b512')
  for (const word of [first, second, third, last].flatMap((point) => point ?? [])) {
    hash.update(word.slice(2), 'hex')
  }
  return hash.update(body.subarray(-hashBytes)).digest('hex')
}

/** Reads tagged parameters: tag 1 is the name, tag 2 a beacon's exponent, tag 3 its value. */
function readParameters(parameters: Buffer): Pick<Contribution, 'name' | 'publicValue'> {
  let name = ''
  let iterationsExponent: number | undefined
  let hex: string | undefined
  for (let at = 0; at < parameters.length; ) {
    const tag = parameters[at]
    const size = parameters.readUInt8(at + 1)
    const text = parameters.subarray(at + 2, at + 2 + size)
    if (tag === 1) name = text.toString('utf8')
    else if (tag === 3) hex = text.toString('hex')
    else if (tag === 2) iterationsExponent = size
    else throw malformed('the record of the ceremony has a parameter that is not known')
    // For tag 2 this byte is the exponent itself; for the other tags it is a length.
    at += tag === 2 ? 2 : 2 + size
  }
  if (hex === undefined || iterationsExponent === undefined) return { name }
  return { name, publicValue: { hex, iterationsExponent } }
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
  const word = bytes.subarray(at, at + wordBytes)
  if (word.length < wordBytes) throw malformed('the proving key lacks a point')
  const value = BigInt(hexOf(Uint8Array.from(word).reverse()))
  return hexOf(bigEndian((value * montgomeryInverse) % baseFieldPrime, wordBytes))
}

function pointG1(bytes: Buffer, at: number): G1 {
  return [coordinate(bytes, at), coordinate(bytes, at + wordBytes)]
}

/** Files hold the real part first; verifiers take the imaginary part first. */
function pointG2(bytes: Buffer, at: number): G2 {
  const limb = (index: number) => coordinate(bytes, at + index * wordBytes)
  return [limb(1), limb(0), limb(3), limb(2)]
}

const malformed = (message: string) => new ArtifactError('artifacts_malformed', message)
