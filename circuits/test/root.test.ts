import {
  type CircuitInput,
  createMemoryNodes,
  createMerkleTree,
  evaluateTransfers,
  type RootCircuit,
  rootBatches,
  rootInput,
  type Transfer,
  transferLeaf,
} from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catalogue } from '../src/compiler/catalogue.js'
import { createWorkshop, type TestCircuit, type Workshop } from './compiled.js'
import { expectNoFreeWire, expectTight, objections } from './honest.js'
import { countsOf, readmeCounts } from './readme.js'
import { rootOf, type SmallStep, stepInput, z } from './root-step.js'

const transferOf = (at: number): Transfer => ({
  from: `0x${(at + 1).toString(16).padStart(40, '0')}`,
  to: `0x${(at + 100).toString(16).padStart(40, '0')}`,
  value: BigInt(at + 1) ** 9n,
})
const nothing: Transfer = { from: '0x00', to: '0x00', value: 0n }
const leafOf = (at: number) => BigInt(at + 1) ** 40n

let workshop: Workshop
beforeAll(async () => {
  workshop = await createWorkshop()
})
afterAll(() => workshop.remove())

describe('a root step', () => {
  // A tree of 32 leaves, in subtrees of 4: all that is particular to a size is the number of wires.
  const shape = { depth: 5, height: 2, segment: 2 }
  let circuit: TestCircuit

  beforeAll(async () => {
    const source = catalogue(0)['root-16']
    circuit = await workshop.circuit({ ...source, component: `Root(${shape.depth}, ${shape.height})` })
  })

  /** A tree with 8 leaves in the first two subtrees and this many in the third. */
  const step = (old: number, added: SmallStep['added']): SmallStep => ({
    ...shape,
    before: Array.from({ length: 8 + old }, (_, at) => leafOf(at)),
    kept: Array.from({ length: old }, (_, place) => place),
    added,
  })
  const appending = (old: number, count: number) =>
    step(old, Object.fromEntries(Array.from({ length: count }, (_, at) => [old + at, transferOf(at)])))
  const good = stepInput(appending(1, 2))

  it.each([0, 1, 2, 3].flatMap((old) => [1, 2, 3, 4].slice(0, 4 - old).map((count) => ({ old, count }))))(
    'is accepted from $old leaves by $count',
    async ({ old, count }) => {
      const input = stepInput(appending(old, count))
      await expect(circuit.witness(input)).resolves.toHaveLength(circuit.r1cs.wires)
    },
  )

  it('leaves nothing to choose', async () => {
    await expectTight(circuit, good)
    expect(objections(circuit, good)).toBe(0)
  })

  const bits = (...digits: number[]) => digits.map(BigInt)
  const shorter = stepInput(appending(1, 1))
  const first = transferOf(0)
  const beforeTwo = appending(2, 1).before

  // The last column: how many constraints object. Where it is one, that one alone stands in the way.
  const malformed: [what: string, input: CircuitInput, objections: number][] = [
    [
      'a gap in the old leaves',
      stepInput({
        ...shape,
        before: [...beforeTwo.slice(0, 8), transferLeaf(2, first), leafOf(9)],
        kept: [1],
        added: { 0: first },
      }),
      1,
    ],
    ['a gap in the appended leaves', stepInput(step(1, { 1: first, 3: transferOf(1) })), 1],
    ['an overwritten leaf', { ...shorter, oldRoot: rootOf(beforeTwo, shape.depth) }, 1],
    [
      'a leaf that stands in no transfer',
      {
        ...shorter,
        leaf: [leafOf(8), 0n, 5n],
        newRoot: rootOf([...appending(1, 1).before, transferLeaf(2, first), 5n], shape.depth),
      },
      1,
    ],
    [
      'a leaf that no longer counts',
      {
        ...stepInput(step(2, {})),
        filled: bits(1, 0, 0, 0),
        newIndex: 9n,
        leaf: [leafOf(8), leafOf(9) + transferLeaf(2, first), 0n],
        from: [0n, BigInt(first.from), 0n, 0n],
        to: [0n, BigInt(first.to), 0n, 0n],
        value: [0n, first.value, 0n, 0n],
        y: -evaluateTransfers(z, [first]),
      },
      1,
    ],
    [
      'a dummy counted as real',
      {
        ...good,
        filled: bits(1, 1, 1, 1),
        newIndex: 12n,
        newRoot: stepInput(step(1, { 1: first, 2: transferOf(1), 3: nothing })).newRoot ?? 0n,
      },
      1,
    ],
    ['a place that is filled twice', { ...good, filled: bits(1, 1, 2, 0), newIndex: 12n }, 3],
    ['the wrong old root', { ...good, oldRoot: 5n }, 1],
    ['the wrong new root', { ...good, newRoot: 5n }, 1],
    ['the wrong old index', { ...good, oldIndex: 8n }, 1],
    ['the wrong new index', { ...good, newIndex: 12n }, 1],
    ['another subtree', { ...good, segment: 3n, oldIndex: 13n, newIndex: 15n }, 2],
    [
      'a number that means the same subtree again',
      { ...good, segment: 10n, oldIndex: 41n, newIndex: 43n },
      1,
    ],
    ['another value of the polynomial', { ...good, y: 5n }, 1],
    ['another point of the polynomial', { ...good, z: 5n }, 1],
    [
      'transfers in another order',
      { ...stepInput(step(1, { 1: transferOf(1), 2: first })), y: good.y ?? 0n },
      1,
    ],
  ]

  it.each(malformed)('is refused with %s', (_, input, expected) => {
    expect(objections(circuit, input)).toBe(expected)
  })
})

describe('the earlier root', () => {
  it('is that of the first leaves, however many', async () => {
    const height = 3
    const width = 2 ** height
    const circuit = await workshop.circuit({
      include: 'root.circom',
      component: `EarlierRoot(${height})`,
      publicSignals: ['kept'],
    })
    const leaves = Array.from({ length: width }, (_, at) => leafOf(at))
    const nodes = [0n, ...[0, 1, 2].flatMap((level) => nodesAt(leaves, level, height)), ...leaves]
    for (let kept = 0; kept < width; kept++) {
      const witness = await circuit.witness({
        kept: leaves.slice(1).map((_, at) => BigInt(at < kept)),
        nodes,
      })
      expect(witness[circuit.wire('root')]).toBe(rootOf(leaves.slice(0, kept), height))
    }
  })
})

/** The nodes at a level below the root. */
function nodesAt(leaves: readonly bigint[], level: number, height: number): bigint[] {
  const span = leaves.length / 2 ** level
  return Array.from({ length: 2 ** level }, (_, at) =>
    rootOf(leaves.slice(at * span, (at + 1) * span), height - level),
  )
}

describe.each(Object.keys(rootBatches) as RootCircuit[])('%s', (name) => {
  const width = rootBatches[name]
  const height = Math.log2(width)

  /** A step of a real tree of height 40. */
  function stepOf(oldIndex: number, count: number) {
    const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
    const leaves = Array.from({ length: oldIndex }, (_, at) => leafOf(at))
    const transfers = Array.from({ length: count }, (_, at) => transferOf(at))
    tree.append(leaves)
    tree.append(transfers.map((transfer) => transferLeaf(2, transfer)))
    const newIndex = oldIndex + count
    const described = rootInput({
      circuit: name,
      oldIndex,
      oldChain: 77n,
      oldLeaves: leaves.slice(oldIndex - (oldIndex % width)),
      siblings: tree.pathAt(oldIndex, newIndex).siblings.slice(height),
      transfers,
    })
    expect(described.oldRoot).toBe(tree.rootAt(oldIndex))
    expect(described.newRoot).toBe(tree.rootAt(newIndex))
    return described.input
  }

  it('accepts steps of a real tree as the zk package describes them, and no wire can be altered', async () => {
    const circuit = await workshop.circuit(catalogue(0)[name], { names: false })
    // Full and empty ends; the larger circuit differs in its width alone, which one of them shows.
    const ends = [
      [0, width],
      [width - 1, 1],
    ] as const
    for (const [oldIndex, count] of name === 'root-16' ? ends : ends.slice(0, 1)) {
      await expect(circuit.witness(stepOf(oldIndex, count))).resolves.toHaveLength(circuit.r1cs.wires)
    }
    await expectNoFreeWire(circuit, stepOf(3 * width + 3, 9), name === 'root-16' ? 11 : 37)
    expect(readmeCounts(name)).toBe(countsOf(circuit.r1cs))
  })
})
