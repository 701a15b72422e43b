import { basePrime, type ConstraintTerm, scalarPrime } from '@svc-zerc20/kernel'
import { ProverError } from './prover-error.js'

/** A Groth16 proving key. Points have the form of the file: Montgomery forms of 2^256, 64 or 128 bytes each. */
export type ProvingKey = {
  readonly wires: number
  /** Public signals: the wires from 1 on. */
  readonly publicSignals: number
  readonly domain: number
  readonly terms: readonly ConstraintTerm[]
  /** 32 bytes for each term. */
  readonly coefficients: Uint8Array
  readonly g1: {
    readonly alpha: Uint8Array
    readonly beta: Uint8Array
    readonly delta: Uint8Array
    /** For every wire. */
    readonly left: Uint8Array
    readonly right: Uint8Array
    /** For every private wire. */
    readonly output: Uint8Array
    /** For every point of the domain. */
    readonly quotient: Uint8Array
  }
  readonly g2: { readonly beta: Uint8Array; readonly delta: Uint8Array; readonly right: Uint8Array }
}

const numberBytes = 32
const g1Bytes = 2 * numberBytes
const g2Bytes = 4 * numberBytes
/** Side, constraint, wire, coefficient. */
const termBytes = 12 + numberBytes
const sectionIds = { protocol: 1, header: 2, terms: 4, left: 5, right: 6, right2: 7, output: 8, quotient: 9 }
const groth16 = 1

const fail = (why: string): never => {
  throw new ProverError('bad_artifacts', `the proving key ${why}`)
}

/** Sections of the container format by their number. */
function sectionsOf(file: Uint8Array): Map<number, Uint8Array> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (new TextDecoder().decode(file.subarray(0, 4)) !== 'zkey') fail('is not one')
  const sections = new Map<number, Uint8Array>()
  let at = 12
  if (at > file.length) fail('is cut off')
  for (let rest = view.getUint32(8, true); rest > 0; rest--) {
    if (at + 12 > file.length) fail('is cut off')
    const length = Number(view.getBigUint64(at + 4, true))
    const section = file.subarray(at + 12, at + 12 + length)
    if (section.length !== length) fail('is cut off')
    sections.set(view.getUint32(at, true), section)
    at += 12 + length
  }
  return sections
}

/** Reads the fields of a section one after the other. */
function reader(section: Uint8Array) {
  const view = new DataView(section.buffer, section.byteOffset, section.byteLength)
  let at = 0
  const bytes = (length: number): Uint8Array => {
    if (at + length > section.length) fail('is cut off')
    at += length
    return section.subarray(at - length, at)
  }
  return {
    bytes,
    uint32: (): number => {
      bytes(4)
      return view.getUint32(at - 4, true)
    },
    number: (): bigint => bytes(numberBytes).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n),
  }
}

/** Reads a key as snarkjs writes it. The points refer to the file's bytes. */
export function readProvingKey(file: Uint8Array): ProvingKey {
  const sections = sectionsOf(file)
  const section = (name: keyof typeof sectionIds) =>
    sections.get(sectionIds[name]) ?? fail(`has no section ${sectionIds[name]}`)
  if (reader(section('protocol')).uint32() !== groth16) fail('is not one of Groth16')
  const header = reader(section('header'))
  for (const prime of [basePrime, scalarPrime]) {
    if (header.uint32() !== numberBytes || header.number() !== prime) fail('is for another curve')
  }
  const [wires, publicSignals, domain] = [header.uint32(), header.uint32(), header.uint32()]
  const [alpha, beta] = [header.bytes(g1Bytes), header.bytes(g1Bytes)]
  const beta2 = header.bytes(g2Bytes)
  header.bytes(g2Bytes) // gamma: needed only to verify
  const [delta, delta2] = [header.bytes(g1Bytes), header.bytes(g2Bytes)]
  const points = (name: keyof typeof sectionIds, count: number, bytes: number) => {
    const found = section(name)
    return found.length === count * bytes ? found : fail(`has ${name} points for another circuit`)
  }
  return {
    wires,
    publicSignals,
    domain,
    ...readTerms(section('terms'), { wires, domain }),
    g1: {
      alpha,
      beta,
      delta,
      left: points('left', wires, g1Bytes),
      right: points('right', wires, g1Bytes),
      output: points('output', wires - publicSignals - 1, g1Bytes),
      quotient: points('quotient', domain, g1Bytes),
    },
    g2: { beta: beta2, delta: delta2, right: points('right2', wires, g2Bytes) },
  }
}

function readTerms(section: Uint8Array, { wires, domain }: { wires: number; domain: number }) {
  const source = reader(section)
  const count = source.uint32()
  if (section.length !== 4 + count * termBytes) fail('has terms that are cut off')
  const coefficients = new Uint8Array(count * numberBytes)
  const terms = Array.from({ length: count }, (_, index): ConstraintTerm => {
    const [matrix, constraint, wire] = [source.uint32(), source.uint32(), source.uint32()]
    if (matrix > 1 || constraint >= domain || wire >= wires) fail('has a term outside of its circuit')
    coefficients.set(source.bytes(numberBytes), index * numberBytes)
    return { side: matrix === 0 ? 'left' : 'right', constraint, wire }
  })
  return { terms, coefficients }
}
