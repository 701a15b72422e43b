import assert from 'node:assert/strict'
import { createField, scalarPrime } from './field.js'
import type { Width } from './poseidon/parameters.js'
import { createProgram, type Program } from './poseidon/program.js'
import { numberBytes } from './words.js'

/** A search for a last input whose hash has zero bits at a given place. */
export type NonceSearch = {
  /** The inputs before the last: one for hashes of two numbers, two for hashes of three. */
  readonly fixed: readonly [bigint] | readonly [bigint, bigint]
  /** The last input of the first try; each further try adds one, modulo the field's order. */
  readonly start: bigint
  /** At most 2^31 − 1. */
  readonly tries: number
  /** The lowest bit that must be zero, a multiple of 8 and at most 192. */
  readonly fromBit: number
  /** How many bits from there must be zero: at most 62. */
  readonly zeroBits: number
}

/** Poseidon with circomlib's parameters over the BN254 scalar field. Numbers are taken modulo the field's order. */
export type Poseidon = {
  hash2(a: bigint, b: bigint): bigint
  hash3(a: bigint, b: bigint, c: bigint): bigint
  /** Hashes pairs of numbers, each 32 bytes, little-endian; so are the results. */
  hashPairs(pairs: Uint8Array): Uint8Array
  /** The index of the first try that fits, or undefined. Blocks its thread for all of them. */
  findNonce(search: NonceSearch): number | undefined
}

const wordBits = 64n
const wordMask = (1n << wordBits) - 1n
const wordsPerNumber = numberBytes / 8

/** The two widths share no code; each is generated on first use. */
export function createPoseidon(): Poseidon {
  const field = createField(scalarPrime)
  const programs = new Map<Width, Machine>()

  function machineOf(width: Width): Machine {
    const known = programs.get(width) ?? createMachine(createProgram(field, width))
    programs.set(width, known)
    return known
  }
  const residue = (value: bigint) =>
    value >= 0n && value < scalarPrime ? value : ((value % scalarPrime) + scalarPrime) % scalarPrime

  function hash(inputs: readonly bigint[]): bigint {
    const machine = machineOf(inputs.length === 2 ? 3 : 4)
    for (const [at, input] of inputs.entries()) machine.write(at, residue(input))
    machine.program.hash()
    return machine.read()
  }

  return {
    hash2: (a, b) => hash([a, b]),
    hash3: (a, b, c) => hash([a, b, c]),
    hashPairs(pairs) {
      assert(pairs.length % (2 * numberBytes) === 0, 'pairs of 32-byte numbers are needed')
      const { program } = machineOf(3)
      const results = new Uint8Array(pairs.length / 2)
      for (let at = 0; at < results.length; at += numberBytes) {
        program.inputs.set(pairs.subarray(2 * at, 2 * at + 2 * numberBytes))
        program.hash()
        results.set(program.output, at)
      }
      return results
    },
    findNonce({ fixed, start, tries, fromBit, zeroBits }) {
      assert(Number.isInteger(tries) && tries >= 0 && tries < 2 ** 31, 'tries out of range')
      assert(fromBit % 8 === 0 && fromBit >= 0 && fromBit <= 192, 'fromBit out of range')
      assert(Number.isInteger(zeroBits) && zeroBits >= 0 && zeroBits <= 62, 'zeroBits out of range')
      const machine = machineOf(fixed.length === 1 ? 3 : 4)
      for (const [at, input] of [...fixed, start].entries()) machine.write(at, residue(input))
      const found = machine.program.search(tries, fromBit / 8, (1n << BigInt(zeroBits)) - 1n)
      return found < 0 ? undefined : found
    },
  }
}

type Machine = {
  readonly program: Program
  write(input: number, value: bigint): void
  read(): bigint
}

function createMachine(program: Program): Machine {
  const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
    new BigUint64Array(buffer, byteOffset, byteLength / 8)
  const inputs = wordsOf(program.inputs)
  const output = wordsOf(program.output)
  return {
    program,
    write(input, value) {
      for (let word = 0; word < wordsPerNumber; word++) {
        inputs[input * wordsPerNumber + word] = (value >> (BigInt(word) * wordBits)) & wordMask
      }
    },
    read: () => output.reduceRight((value, word) => (value << wordBits) | word, 0n),
  }
}
