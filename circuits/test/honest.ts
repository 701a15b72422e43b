import type { CircuitInput } from '@svc-zerc20/zk'
import { expect } from 'vitest'
import { reduce } from '../src/field.js'
import type { TestCircuit } from './compiled.js'
import { freeWires, violated } from './constraints.js'
import { solve } from './solve.js'

/** The wires of the inputs, by name. */
function givenWires(circuit: TestCircuit, input: CircuitInput): Map<number, bigint> {
  const named = Object.entries(input).flatMap(([signal, value]) =>
    typeof value === 'bigint'
      ? [[signal, value] as const]
      : value.map((item, at) => [`${signal}[${at}]`, item] as const),
  )
  return new Map(named.map(([signal, value]) => [circuit.wire(signal), reduce(value)]))
}

/** Expects that no single wire of an honest witness can be altered. Tries every `step`th wire. */
export async function expectNoFreeWire(
  circuit: TestCircuit,
  input: CircuitInput,
  step = 1,
): Promise<bigint[]> {
  const witness = await circuit.witness(input)
  expect(violated(circuit.constraints, witness)).toEqual([])
  expect(freeWires(circuit.constraints, witness, step)).toEqual([])
  return witness
}

/** Expects more: that the inputs determine the whole witness uniquely. */
export async function expectTight(circuit: TestCircuit, input: CircuitInput): Promise<void> {
  const witness = await expectNoFreeWire(circuit, input)
  expect(solve(circuit.constraints, givenWires(circuit, input))).toEqual(witness)
}

/**
 * Number of constraints that refuse these inputs when a dishonest prover completes the witness as well as possible.
 * Inner signals may be given too. One means that a single constraint prevents the forged proof.
 */
export function objections(circuit: TestCircuit, input: CircuitInput): number {
  const forged = solve(circuit.constraints, givenWires(circuit, input)).map((value) => value ?? 0n)
  return violated(circuit.constraints, forged).length
}
