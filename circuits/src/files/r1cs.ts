import { fieldPrime } from '@svc-zerc20/zk'
import { readElement } from '../field.js'
import { readSections, sectionOf } from './sections.js'

/** Linear forms over the wires, one for each constraint: row i is entries `starts[i]` to `starts[i + 1]`. */
export type LinearForms = {
  readonly starts: Uint32Array
  readonly wires: Uint32Array
  readonly coefficients: readonly bigint[]
}

/** The constraints of a compiled circuit: `a[i] * b[i] = c[i]` for each i. Wire 0 is always one. */
export type R1cs = {
  readonly wires: number
  /** Wires 1 to this one are public signals. */
  readonly publicSignals: number
  /** Number of private inputs: the wires after the public signals. All later wires are computed. */
  readonly privateInputs: number
  readonly constraints: number
  readonly a: LinearForms
  readonly b: LinearForms
  readonly c: LinearForms
}

const entryBytes = 36

/** Reads a constraint file of the compiler. */
export function readR1cs(file: Buffer): R1cs {
  const sections = readSections(file, 'r1cs')
  const header = sectionOf(sections, 1)
  if (readElement(header, 4) !== fieldPrime) throw new Error('the constraints are over another field')
  const wires = header.readUInt32LE(36)
  const publicSignals = header.readUInt32LE(40) + header.readUInt32LE(44)
  const privateInputs = header.readUInt32LE(48)
  const constraints = header.readUInt32LE(60)

  const rows = sectionOf(sections, 2)
  const forms = [0, 1, 2].map(() => ({
    starts: new Uint32Array(constraints + 1),
    wires: [] as number[],
    coefficients: [] as bigint[],
  }))
  // A few coefficients occur very often, so sharing one object for each saves most of the memory.
  const known = new Map<bigint, bigint>()
  let at = 0
  for (let row = 0; row < constraints; row++) {
    for (const form of forms) {
      const length = rows.readUInt32LE(at)
      at += 4
      for (let end = at + length * entryBytes; at < end; at += entryBytes) {
        const value = readElement(rows, at + 4)
        const coefficient = known.get(value) ?? value
        known.set(coefficient, coefficient)
        form.wires.push(rows.readUInt32LE(at))
        form.coefficients.push(coefficient)
      }
      form.starts[row + 1] = form.wires.length
    }
  }
  const [a, b, c] = forms.map((form) => ({ ...form, wires: Uint32Array.from(form.wires) }))
  if (a === undefined || b === undefined || c === undefined) throw new Error('unreachable')
  return { wires, publicSignals, privateInputs, constraints, a, b, c }
}
