import { fieldPrime, hash2, hash3 } from '@svc-zerc20/zk'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkshop, type TestCircuit, type Workshop } from './compiled.js'
import { expectTight } from './honest.js'

const element = fc.oneof(
  fc.constantFrom(0n, 1n, fieldPrime - 1n),
  fc.bigInt({ min: 0n, max: fieldPrime - 1n }),
)

describe.each([
  { inputs: 2, constraints: 242 },
  { inputs: 3, constraints: 264 },
])('Poseidon of $inputs inputs', ({ inputs, constraints }) => {
  let workshop: Workshop
  let circuit: TestCircuit

  beforeAll(async () => {
    workshop = await createWorkshop()
    circuit = await workshop.circuit({
      include: 'poseidon.circom',
      component: `Poseidon(${inputs})`,
      publicSignals: ['in'],
    })
  })
  afterAll(() => workshop.remove())

  it('is the hash of the zk package', async () => {
    await fc.assert(
      fc.asyncProperty(element, element, element, async (a, b, c) => {
        const witness = await circuit.witness({ in: [a, b, c].slice(0, inputs) })
        expect(witness[circuit.wire('out')]).toBe(inputs === 2 ? hash2(a, b) : hash3(a, b, c))
      }),
      { numRuns: 12 },
    )
  })

  it('leaves nothing to choose, and takes three constraints for each S-box', async () => {
    await expectTight(circuit, { in: [5n, 6n, 7n].slice(0, inputs) })
    expect(circuit.r1cs.constraints).toBe(constraints)
  })
})
