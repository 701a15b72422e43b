import { fieldPrime } from '@svc-zerc20/zk'
import { elementBytes, inverse, packElements, power, reduce, rootOfUnity, writeElement } from '../field.js'
import type { LinearForms, R1cs } from '../files/r1cs.js'
import type { ProvingKey } from '../files/zkey.js'
import type { FixedBasePool } from './fixed-base-pool.js'

/** Random bytes of the given number. */
export type RandomBytes = (count: number) => Uint8Array

/** The secret numbers behind a key. Whoever knows them can forge proofs. They exist only in this process's memory. */
type Trapdoor = Record<'tau' | 'alpha' | 'beta' | 'delta', bigint>

/**
 * Makes a Groth16 key in seconds: one party draws all secrets, so each point of the key is a known multiple of a
 * generator. A ceremony takes hours because nobody may know the secrets.
 */
export async function developmentSetup(deps: {
  readonly r1cs: R1cs
  readonly pool: FixedBasePool
  readonly random: RandomBytes
  /** Called with the share of the points that are there, from 0 to 1. */
  readonly onShare?: (share: number) => void
}): Promise<ProvingKey> {
  const { r1cs, pool, random, onShare = () => {} } = deps
  const trapdoor: Trapdoor = {
    tau: drawScalar(random),
    alpha: drawScalar(random),
    beta: drawScalar(random),
    delta: drawScalar(random),
  }
  const domain = domainOf(r1cs)
  const { tau, alpha, beta, delta } = trapdoor
  const deltaInverse = inverse(delta)
  // A point for each quotient, and four for each wire, one of them in the second group.
  const total = domain + 4 * r1cs.wires
  let made = 0
  const onDone = (points: number) => {
    made += points
    onShare(Math.min(1, made / total))
  }
  const g1 = (scalars: readonly bigint[]) => pool.multiply('G1', packElements(scalars), onDone)
  const g2 = (scalars: readonly bigint[]) => pool.multiply('G2', packElements(scalars), onDone)

  // The quotients come first, because they depend on nothing else: the threads compute them while the wires are summed.
  const odd = lagrange({ tau, order: 2 * domain, step: 2, start: 1, count: domain })
  const h = g1(odd.map((value) => (value * deltaInverse) % fieldPrime))
  const basis = lagrange({ tau, order: domain, step: 1, start: 0, count: domain })
  const [u, v, w] = [r1cs.a, r1cs.b, r1cs.c].map((forms) => sumByWire(forms, r1cs.wires, basis))
  if (u === undefined || v === undefined || w === undefined) throw new Error('unreachable')
  // One extra row for each public signal, so that two of them cannot be swapped in a proof.
  for (let signal = 0; signal <= r1cs.publicSignals; signal++) {
    u[signal] = reduce((u[signal] ?? 0n) + (basis[r1cs.constraints + signal] ?? 0n))
  }
  const combined = u.map((value, wire) => reduce(beta * value + alpha * (v[wire] ?? 0n) + (w[wire] ?? 0n)))
  const visible = r1cs.publicSignals + 1
  const hidden = combined.slice(visible).map((value) => (value * deltaInverse) % fieldPrime)

  const [aPoints, b1Points, b2Points, icPoints, cPoints, headG1, headG2, hPoints] = await Promise.all([
    g1(u),
    g1(v),
    g2(v),
    g1(combined.slice(0, visible)),
    g1(hidden),
    g1([alpha, beta, delta]),
    g2([beta, 1n, delta]),
    h,
  ])
  return {
    wires: r1cs.wires,
    publicSignals: r1cs.publicSignals,
    domain,
    headG1: Buffer.concat(headG1),
    headG2: Buffer.concat(headG2),
    ic: icPoints,
    coefficients: coefficientRows(r1cs),
    a: aPoints,
    b1: b1Points,
    b2: b2Points,
    c: cPoints,
    h: hPoints,
  }
}

/** The power of two that holds all constraints and the rows of the public signals. */
export function domainOf({ constraints, publicSignals }: R1cs): number {
  return 2 ** Math.ceil(Math.log2(constraints + publicSignals + 1))
}

function drawScalar(random: RandomBytes): bigint {
  // Sixteen bytes more than the order has, so that the remainder is practically uniform.
  return reduce(BigInt(`0x${Buffer.from(random(elementBytes + 16)).toString('hex')}`))
}

/** Values at tau of the Lagrange polynomials of roots of unity `start`, `start + step`, … of the given order. */
function lagrange(of: { tau: bigint; order: number; step: number; start: number; count: number }): bigint[] {
  const { tau, order, step, start, count } = of
  const root = rootOfUnity(order)
  const stride = power(root, BigInt(step))
  const scale = reduce((power(tau, BigInt(order)) - 1n) * inverse(BigInt(order)))
  const points = new Array<bigint>(count)
  const products = new Array<bigint>(count)
  let point = power(root, BigInt(start))
  let product = 1n
  for (let at = 0; at < count; at++) {
    points[at] = point
    products[at] = product
    product = (product * reduce(tau - point)) % fieldPrime
    point = (point * stride) % fieldPrime
  }
  // One inversion for all: walk backwards with the inverse of the remaining product.
  let rest = inverse(product)
  const values = new Array<bigint>(count)
  for (let at = count - 1; at >= 0; at--) {
    const difference = reduce(tau - (points[at] ?? 0n))
    const inverted = (rest * (products[at] ?? 0n)) % fieldPrime
    values[at] = (((scale * (points[at] ?? 0n)) % fieldPrime) * inverted) % fieldPrime
    rest = (rest * difference) % fieldPrime
  }
  return values
}

/** For each wire the sum of its coefficients, each weighted with the value of its row. */
function sumByWire(forms: LinearForms, wires: number, rows: readonly bigint[]): bigint[] {
  const sums = new Array<bigint>(wires).fill(0n)
  for (let row = 0; row + 1 < forms.starts.length; row++) {
    const weight = rows[row] ?? 0n
    for (let at = forms.starts[row] ?? 0; at < (forms.starts[row + 1] ?? 0); at++) {
      const wire = forms.wires[at] ?? 0
      sums[wire] = ((sums[wire] ?? 0n) + (forms.coefficients[at] ?? 0n) * weight) % fieldPrime
    }
  }
  return sums
}

const coefficientBytes = 12 + elementBytes

/** Rows of the first two forms as the prover reads them: matrix, row, wire, coefficient times R squared. */
function coefficientRows(r1cs: R1cs): Uint8Array {
  const { a, b, constraints, publicSignals } = r1cs
  const total = a.wires.length + b.wires.length + publicSignals + 1
  const bytes = Buffer.allocUnsafe(4 + total * coefficientBytes)
  const montgomerySquared = power(2n, 512n)
  const encoded = new Map<bigint, bigint>()
  let place = bytes.writeUInt32LE(total)
  const write = (matrix: number, row: number, wire: number, coefficient: bigint) => {
    const value = encoded.get(coefficient) ?? (coefficient * montgomerySquared) % fieldPrime
    encoded.set(coefficient, value)
    bytes.writeUInt32LE(matrix, place)
    bytes.writeUInt32LE(row, place + 4)
    bytes.writeUInt32LE(wire, place + 8)
    writeElement(bytes, place + 12, value)
    place += coefficientBytes
  }
  for (let row = 0; row < constraints; row++) {
    for (const [matrix, forms] of [a, b].entries()) {
      for (let at = forms.starts[row] ?? 0; at < (forms.starts[row + 1] ?? 0); at++) {
        write(matrix, row, forms.wires[at] ?? 0, forms.coefficients[at] ?? 0n)
      }
    }
  }
  for (let signal = 0; signal <= publicSignals; signal++) write(0, constraints + signal, signal, 1n)
  return bytes
}
