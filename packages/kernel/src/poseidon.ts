import assert from 'node:assert/strict'
import { createField, scalarPrime } from './field.js'
import { type Lanes, pair, single } from './lanes.js'
import { indices } from './montgomery.js'
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
  /** The index of the first try that fits, or undefined. Blocks its thread for all of them. */
  findNonce(search: NonceSearch): number | undefined
}

const wordBits = 64n
const wordMask = (1n << wordBits) - 1n
const wordsPerNumber = numberBytes / 8

const residue = (value: bigint) =>
  value >= 0n && value < scalarPrime ? value : ((value % scalarPrime) + scalarPrime) % scalarPrime

/**
 * One hash is computed alone, and a search hashes two numbers at once. Neither they nor the two widths share code; each
 * is generated on first use.
 */
export function createPoseidon(): Poseidon {
  const field = createField(scalarPrime)

  function machinesOf(lanes: Lanes): (inputs: number) => Machine {
    const machines = new Map<Width, Machine>()
    return (inputs) => {
      const width = inputs === 2 ? 3 : 4
      const known = machines.get(width) ?? createMachine(createProgram(field, lanes, width))
      machines.set(width, known)
      return known
    }
  }
  const [hashing, searching] = [machinesOf(single), machinesOf(pair)]

  function hash(inputs: readonly bigint[]): bigint {
    const machine = hashing(inputs.length)
    machine.write(0, inputs)
    machine.program.hash()
    return machine.read()
  }

  return {
    hash2: (a, b) => hash([a, b]),
    hash3: (a, b, c) => hash([a, b, c]),
    findNonce({ fixed, start, tries, fromBit, zeroBits }) {
      assert(Number.isInteger(tries) && tries >= 0 && tries < 2 ** 31, 'tries out of range')
      assert(fromBit % 8 === 0 && fromBit >= 0 && fromBit <= 192, 'fromBit out of range')
      assert(Number.isInteger(zeroBits) && zeroBits >= 0 && zeroBits <= 62, 'zeroBits out of range')
      const machine = searching(fixed.length + 1)
      for (const lane of indices(pair.count)) machine.write(lane, [...fixed, start + BigInt(lane)])
      const found = machine.program.search(tries, fromBit / 8, (1n << BigInt(zeroBits)) - 1n)
      return found >= 0 && found < tries ? found : undefined
    },
  }
}

type Machine = {
  readonly program: Program
  /** Sets the inputs of a lane. */
  write(lane: number, inputs: readonly bigint[]): void
  /** The hash in the first lane. */
  read(): bigint
}

function createMachine(program: Program): Machine {
  const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
    new BigUint64Array(buffer, byteOffset, byteLength / 8)
  const inputs = wordsOf(program.inputs)
  const output = wordsOf(program.outputs.subarray(0, numberBytes))
  return {
    program,
    write(lane, values) {
      for (const [at, value] of values.map(residue).entries()) {
        const start = (lane * values.length + at) * wordsPerNumber
        for (let word = 0; word < wordsPerNumber; word++) {
          inputs[start + word] = (value >> (BigInt(word) * wordBits)) & wordMask
        }
      }
    },
    read: () => output.reduceRight((value, word) => (value << wordBits) | word, 0n),
  }
}
