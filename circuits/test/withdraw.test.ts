import { readFileSync } from 'node:fs'
import {
  burnAddressAt,
  findPowNonce,
  type Hex,
  hubHeight,
  rootOfPath,
  secretAt,
  transferLeaf,
  treeHeight,
  withdrawInput,
} from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catalogue } from '../src/compiler/catalogue.js'
import { createWorkshop, type TestCircuit, type Workshop } from './compiled.js'
import { expectNoFreeWire, expectTight, objections } from './honest.js'
import { countsOf, readmeCounts } from './readme.js'

type Burn = { generation: number; secret: Hex | number; burnAddress: Hex }
const vectors: {
  puzzles: (Burn & { recipientHash: number })[]
  derivations: { recipientHash?: Hex; burns: Burn[] }[]
} = JSON.parse(readFileSync(new URL('../../test/vectors/zerc20.json', import.meta.url), 'utf8'))

const powBits = 8
const from: Hex = `0x${'11'.repeat(20)}`
const puzzle = { generation: 2, powBits, recipientHash: 123_456_789n, baseSecret: 1000n } as const
const powNonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 100_000 }) ?? -1
const to = burnAddressAt(puzzle, powNonce) ?? '0x'

/** A burn of this value in a tree of this depth, whose other leaves do not matter. */
function burnIn(depth: number, value: bigint, delta: bigint) {
  const siblings = Array.from({ length: depth }, (_, level) => BigInt(level + 7) ** 30n)
  const leafIndex = Math.floor(2 ** depth / 3)
  const root = rootOfPath(transferLeaf(2, { from, to, value }), leafIndex, siblings)
  const recipientHash: bigint = puzzle.recipientHash
  const known = { recipientHash, secret: secretAt(puzzle, powNonce), from, value, delta }
  return { ...known, root, leafIndex, siblings }
}

/** As `withdrawInput`, for trees and values that it would not take. */
function inputOf({
  recipientHash,
  value,
  delta,
  from: sender,
  leafIndex,
  ...rest
}: ReturnType<typeof burnIn>) {
  const numbers = {
    value,
    delta,
    withdrawValue: value - delta,
    from: BigInt(sender),
    leafIndex: BigInt(leafIndex),
  }
  return { ...rest, ...numbers, recipient: recipientHash }
}

let workshop: Workshop
beforeAll(async () => {
  workshop = await createWorkshop()
})
afterAll(() => workshop.remove())

describe('a withdrawal', () => {
  // All that is particular to a depth is the number of siblings; a shallow tree keeps the reasoning short.
  const depth = 3
  let circuit: TestCircuit
  const burn = burnIn(depth, 12_345n, 45n)
  const good = inputOf(burn)

  beforeAll(async () => {
    const source = catalogue(powBits)['withdraw-local']
    circuit = await workshop.circuit({ ...source, component: `Withdraw(${depth}, ${powBits})` })
  })

  it('is accepted, and leaves nothing to choose', async () => {
    await expectTight(circuit, good)
    expect(objections(circuit, good)).toBe(0)
  })

  it('is refused with a negative delta, which would mint more than was burned', () => {
    expect(objections(circuit, { ...good, delta: -1n, withdrawValue: 12_346n })).toBe(1)
  })

  it('is refused with a delta larger than the value', () => {
    expect(objections(circuit, { ...good, delta: 12_346n, withdrawValue: -1n })).toBe(1)
  })

  it('is refused with a value that is not that of the leaf', () => {
    expect(objections(circuit, { ...good, value: 12_346n, withdrawValue: 12_301n })).toBe(1)
    expect(objections(circuit, { ...good, withdrawValue: 12_301n })).toBe(1)
  })

  it('is refused with a value over 248 bits', () => {
    const large = burnIn(depth, 1n << 248n, 1n)
    expect(objections(circuit, inputOf(large))).toBe(1)
  })

  it('is refused with an index that means the same path a second time', () => {
    const { leafIndex } = burn
    expect(objections(circuit, { ...good, leafIndex: BigInt(leafIndex) + (1n << BigInt(depth)) })).toBe(1)
    expect(objections(circuit, { ...good, leafIndex: BigInt(leafIndex) + 1n })).toBe(1)
  })

  it('is refused with another root, recipient, secret, sender or sibling', () => {
    const others = [{ root: 1n }, { recipient: 1n }, { secret: 1n }, { from: 1n }, { siblings: [1n, 2n, 3n] }]
    for (const other of others) expect(objections(circuit, { ...good, ...other })).toBeGreaterThan(0)
  })
})

describe.each([
  { name: 'withdraw-local', depth: treeHeight },
  { name: 'withdraw-global', depth: treeHeight + hubHeight },
] as const)('$name', ({ name, depth }) => {
  it('accepts a burn as the zk package describes it, and no wire can be altered', async () => {
    const circuit = await workshop.circuit(catalogue(powBits)[name], { names: false })
    const described = withdrawInput(burnIn(depth, 12_345n, 45n))
    expect(described.circuit).toBe(name)
    const { root, recipient } = described.input
    const witness = await expectNoFreeWire(circuit, described.input, name === 'withdraw-local' ? 1 : 23)
    expect(witness.slice(1, 4)).toEqual([root, recipient, 12_300n])
    expect(readmeCounts(name)).toBe(countsOf(circuit.r1cs))
  })
})

describe("burns at upstream's 16 bits of proof of work", () => {
  let circuit: TestCircuit
  const burns = [
    ...vectors.puzzles,
    ...vectors.derivations.flatMap(({ recipientHash, burns: of }) =>
      recipientHash === undefined ? [] : of.map((burn) => ({ ...burn, recipientHash })),
    ),
  ].filter(({ generation }) => generation === 2)

  beforeAll(async () => {
    circuit = await workshop.circuit({
      include: 'burn-address.circom',
      component: 'BurnAddress(16)',
      publicSignals: ['recipient'],
    })
  })

  it('has vectors', () => {
    expect(burns.length).toBeGreaterThan(3)
  })

  it.each(burns)('accepts the vector $burnAddress, and no other secret', async (burn) => {
    const [recipient, secret] = [BigInt(burn.recipientHash), BigInt(burn.secret)]
    const witness = await circuit.witness({ recipient, secret })
    expect(witness[circuit.wire('address')]).toBe(BigInt(burn.burnAddress))
    await expect(circuit.witness({ recipient, secret: secret + 1n })).rejects.toThrow('Assert Failed')
  })
})
