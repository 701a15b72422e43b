import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CircuitInput } from '@svc-zerc20/zk'
import { wtns } from 'snarkjs'
import type { CircuitSource } from '../src/compiler/catalogue.js'
import { compile, prepareSources } from '../src/compiler/compile.js'
import { readElement } from '../src/field.js'
import { type R1cs, readR1cs } from '../src/files/r1cs.js'
import { readSections, sectionOf } from '../src/files/sections.js'
import { type Constraints, constraintsOf } from './constraints.js'

/** A circuit compiled for a test. */
export type TestCircuit = {
  readonly r1cs: R1cs
  readonly constraints: Constraints
  readonly r1csFile: string
  readonly witnessFile: string
  /** Values of all wires. Throws where the circuit refuses the inputs. */
  witness(input: CircuitInput): Promise<bigint[]>
  /** The wire of a signal, by its name below `main`. */
  wire(signal: string): number
}

/** Compiles circuits in a temporary folder; `remove` deletes it. */
export async function createWorkshop() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-circuits-'))
  await prepareSources(folder)
  let circuits = 0
  return {
    folder,
    /** `names` adds the names of signals. They are slow to compile in a large circuit, so ask only if needed. */
    async circuit(source: CircuitSource, { names = true } = {}): Promise<TestCircuit> {
      const name = `test${++circuits}`
      const { r1csFile, witnessFile } = await compile(folder, name, source, names ? ['--sym'] : [])
      const r1cs = readR1cs(await readFile(r1csFile))
      const wires = names ? await readNames(r1csFile.replace(/r1cs$/, 'sym')) : new Map<string, number>()
      return {
        r1cs,
        constraints: constraintsOf(r1cs),
        r1csFile,
        witnessFile,
        witness: (input) => calculate(input, witnessFile),
        wire(signal) {
          const wire = wires.get(`main.${signal}`)
          if (wire === undefined || wire < 0) throw new Error(`no wire for ${signal}`)
          return wire
        },
      }
    },
    remove: () => rm(folder, { recursive: true }),
  }
}

export type Workshop = Awaited<ReturnType<typeof createWorkshop>>

/** Wires by the names of signals. */
async function readNames(file: string): Promise<Map<string, number>> {
  // Lines of label, wire, component, name; the wire is -1 where the compiler dropped the signal.
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.split(','))
  const wires = new Map(lines.map(([, wire, , signal]) => [signal ?? '', Number(wire)]))
  // Inputs give a table row after row. The file has its elements in the same order.
  const elements = new Map<string, number>()
  for (const [signal, wire] of [...wires]) {
    const table = /^([^[]+)\[\d+\]\[\d+\]$/.exec(signal)?.[1]
    if (table === undefined) continue
    const element = elements.get(table) ?? 0
    elements.set(table, element + 1)
    wires.set(`${table}[${element}]`, wire)
  }
  return wires
}

async function calculate(input: CircuitInput, witnessFile: string): Promise<bigint[]> {
  const memory: { type: 'mem'; data?: Uint8Array } = { type: 'mem' }
  await wtns.calculate(input, witnessFile, memory)
  const values = sectionOf(readSections(Buffer.from(memory.data ?? []), 'wtns'), 2)
  return Array.from({ length: values.length / 32 }, (_, wire) => readElement(values, wire * 32))
}
