import { writeElement } from '../element.js'
import { createField, elementBytes, limbCount, power, scalarPrime } from '../field.js'
import { createMemory, instantiate, pageBytes, type WasmMemory } from '../wasm/instance.js'
import { createModule } from '../wasm/module.js'
import { numberBytes } from '../words.js'
import { defineEvaluationFunctions, type EvaluationFunctions, termBytes } from './evaluation-functions.js'
import { defineTransformFunctions, type TransformFunctions } from './transform-functions.js'

/** A generator of the scalar field; its powers are the roots that proving keys are made with. */
const generator = 5n

/** One entry of a constraint: `coefficient · wire` in the left or the right factor. */
export type ConstraintTerm = {
  readonly side: 'left' | 'right'
  readonly constraint: number
  readonly wire: number
}

export type QuotientOptions = {
  readonly wires: number
  /** A power of two above the number of constraints. */
  readonly domain: number
  readonly terms: readonly ConstraintTerm[]
  /** Coefficients of the terms as a proving key has them: 32 bytes each, times 2^512. */
  readonly coefficients: Uint8Array
}

/**
 * Evaluates left · right − output for a witness, at the odd powers of a root of order 2·domain. The constraints give
 * the values of the three polynomials at the even powers; the values at the odd powers follow by a shift to the coset.
 */
export type Quotient = {
  /** `witness` has all wires, 32 little-endian bytes each. Returns a number of that form for each point of the domain. */
  evaluate(witness: Uint8Array): Uint32Array
}

const field = createField(scalarPrime)

type Plan = ReturnType<typeof planMemory>
type Machine = { readonly memory: WasmMemory; readonly functions: TransformFunctions & EvaluationFunctions }

export function createQuotient(options: QuotientOptions): Quotient {
  const { wires, domain } = options
  const termCount = options.terms.length
  const plan = planMemory(wires, domain, termCount)
  const memory = createMemory(Math.ceil(plan.end / pageBytes))
  const module = createModule()
  defineTransformFunctions(module, field)
  defineEvaluationFunctions(module, { field, scratch: plan.scratch, one: plan.one })
  const functions = instantiate<TransformFunctions & EvaluationFunctions>(module.bytes(), memory)
  const words = (address: number, count: number) => new Uint32Array(memory.buffer, address, count)
  // In its own function, so that the returned closure does not keep `options` in memory.
  writeTerms({ memory, functions }, plan, options)
  writeRoots({ memory, functions }, plan, domain)

  function interleave(first: number, second: number): void {
    const into = words(plan.pairs, 2 * domain * limbCount)
    const [left, right] = [words(first, domain * limbCount), words(second, domain * limbCount)]
    for (let index = 0; index < domain * limbCount; index++) {
      into[2 * index] = left[index] ?? 0
      into[2 * index + 1] = right[index] ?? 0
    }
  }

  function separate(first: number, second: number): void {
    const from = words(plan.pairs, 2 * domain * limbCount)
    const [left, right] = [words(first, domain * limbCount), words(second, domain * limbCount)]
    for (let index = 0; index < domain * limbCount; index++) {
      left[index] = from[2 * index] ?? 0
      right[index] = from[2 * index + 1] ?? 0
    }
  }

  /** From values at the even powers to values at the odd ones, of two polynomials. */
  function shiftBoth(first: number, second: number): void {
    interleave(first, second)
    functions.transformDown(plan.pairs, domain, plan.inverseRoots)
    functions.scale(plan.pairs, plan.shifts, domain)
    functions.transformUp(plan.pairs, domain, plan.roots)
    separate(first, second)
  }

  return {
    evaluate(witness) {
      new Uint8Array(memory.buffer, plan.staging, witness.length).set(witness)
      functions.importNumbers(plan.wires, plan.staging, wires)
      words(plan.left, 2 * domain * limbCount).fill(0)
      functions.addProducts(plan.terms, termCount)
      functions.multiplyAll(plan.output, plan.left, plan.right, domain)
      shiftBoth(plan.left, plan.right)
      shiftBoth(plan.output, plan.output)
      functions.exportDifferences(plan.staging, plan.left, plan.right, plan.output, domain)
      return words(plan.staging, (domain * numberBytes) / 4).slice()
    },
  }
}

function writeTerms(
  { memory, functions }: Machine,
  plan: Plan,
  { terms, coefficients }: QuotientOptions,
): void {
  writeElement(field, memory, plan.one, 1n)
  new Uint8Array(memory.buffer, plan.staging, coefficients.length).set(coefficients)
  functions.importCoefficients(plan.coefficients, plan.staging, terms.length)
  const list = new Uint32Array(memory.buffer, plan.terms, terms.length * 3)
  terms.forEach(({ side, constraint, wire }, index) => {
    list[3 * index] = plan.coefficients + index * elementBytes
    list[3 * index + 1] = plan.wires + wire * elementBytes
    list[3 * index + 2] = (side === 'left' ? plan.left : plan.right) + constraint * elementBytes
  })
}

function writeRoots({ memory, functions }: Machine, plan: Plan, domain: number): void {
  const sizeBits = Math.log2(domain)
  const powers = (address: number, first: bigint, ratio: bigint, count: number) => {
    writeElement(field, memory, address, first)
    writeElement(field, memory, plan.ratio, ratio)
    functions.powers(address, plan.ratio, count - 1)
  }
  const root = power(generator, (scalarPrime - 1n) / BigInt(domain), scalarPrime)
  const shift = power(generator, (scalarPrime - 1n) / BigInt(2 * domain), scalarPrime)
  powers(plan.inverseRoots, 1n, field.inverse(root), domain / 2)
  reverseOrder(memory, plan.inverseRoots, sizeBits - 1)
  powers(plan.roots, 1n, root, domain / 2)
  powers(plan.shifts, field.inverse(BigInt(domain)), shift, domain)
  reverseOrder(memory, plan.shifts, sizeBits)
}

/** Moves element i to the index whose bits are those of i reversed. */
function reverseOrder(memory: WasmMemory, address: number, bits: number): void {
  const all = new Uint32Array(memory.buffer, address, 2 ** bits * limbCount)
  const copy = all.slice()
  for (let index = 0; index < 2 ** bits; index++) {
    const from = reverseBits(index, bits) * limbCount
    all.set(copy.subarray(from, from + limbCount), index * limbCount)
  }
}

function reverseBits(value: number, bits: number): number {
  let reversed = 0
  for (let bit = 0; bit < bits; bit++) reversed |= ((value >>> bit) & 1) << (bits - 1 - bit)
  return reversed
}

/** Assigns consecutive addresses to all lists. */
function planMemory(wires: number, domain: number, terms: number) {
  let end = 64
  const take = (bytes: number) => {
    const address = end
    end += Math.ceil(bytes / 8) * 8
    return address
  }
  const elements = (count: number) => take(count * elementBytes)
  return {
    one: elements(1),
    ratio: elements(1),
    scratch: elements(2),
    wires: elements(wires),
    coefficients: elements(terms),
    terms: take(terms * termBytes),
    // Left and right are cleared together.
    left: take(domain * elementBytes),
    right: take(domain * elementBytes),
    output: elements(domain),
    pairs: elements(2 * domain),
    inverseRoots: elements(domain / 2),
    roots: elements(domain / 2),
    shifts: elements(domain),
    // Imports read a few bytes behind the last number.
    staging: take(Math.max(domain, wires, terms) * numberBytes + 8),
    get end() {
      return end
    },
  }
}
