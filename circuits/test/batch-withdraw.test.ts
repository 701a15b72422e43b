import {
  type BatchShape,
  batchShape,
  batchWithdrawInput,
  burnAddressAt,
  type CircuitInput,
  createMemoryNodes,
  createMerkleTree,
  findPowNonce,
  type Hex,
  hash2,
  secretAt,
  transferLeaf,
} from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { batchWithdraw } from '../src/compiler/catalogue.js'
import { createWorkshop, type TestCircuit, type Workshop } from './compiled.js'
import { expectNoFreeWire, expectTight, objections } from './honest.js'
import { countsOf, readmeCounts } from './readme.js'

const powBits = 8
const recipientHash = 123_456_789n

const sourceOf = (shape: BatchShape) => batchWithdraw(powBits, shape)

/** A burn of the recipient; each number gives another one. */
function burnOf(number: number, value = 100n + BigInt(number)) {
  const puzzle = {
    generation: 2,
    powBits,
    recipientHash,
    baseSecret: 1000n + BigInt(number) * 5_000_000n,
  } as const
  const powNonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 100_000 }) ?? -1
  const from: Hex = `0x${(number + 1).toString(16).padStart(40, '0')}`
  const transfer = {
    from,
    to: burnAddressAt(puzzle, powNonce) ?? ('0x' as Hex),
    value,
  }
  return { ...transfer, secret: secretAt(puzzle, powNonce) }
}

let workshop: Workshop
beforeAll(async () => {
  workshop = await createWorkshop()
})
afterAll(() => workshop.remove())

describe('a batch', () => {
  // Sixteen leaves in windows of four, two slots, two windows: a shape has nothing else that is particular to it.
  const shape: BatchShape = { depth: 4, windowHeight: 2, slots: 2, windows: 2 }
  /** A tree with burns at these places, and other leaves everywhere else. */
  function treeOf(burns: readonly ReturnType<typeof burnOf>[], places: readonly number[]) {
    const levels = levelsAbove(
      Array.from({ length: 16 }, (_, at) => {
        const burn = burns[places.indexOf(at)]
        return burn ? transferLeaf(2, burn) : BigInt(at + 7) ** 30n
      }),
    )
    const nodeAt = (level: number, index: number) => levels[level]?.[index] ?? 0n
    const located = burns.map((burn, at) => {
      const leafIndex = places[at] ?? 0
      const siblings = [0, 1, 2, 3].map((level) => nodeAt(level, (leafIndex >> level) ^ 1))
      return { ...burn, leafIndex, siblings }
    })
    return { nodeAt, located, root: nodeAt(4, 0) }
  }
  const inputOf = (
    { root, located }: ReturnType<typeof treeOf>,
    { start, end }: { start: number; end: number },
  ) => batchWithdrawInput({ root, recipientHash, start, end, burns: located }, shape)

  const tree = treeOf([burnOf(0), burnOf(1)], [6, 9])
  const { nodeAt, root, located } = tree
  const [first, second] = located as [(typeof located)[0], (typeof located)[0]]
  const known = { root, recipientHash, start: 6, end: 13 }
  const good = inputOf(tree, known)
  const one = batchWithdrawInput({ ...known, burns: [first] }, shape)
  /** The first burn in both slots, told as if it were two. */
  const twice = { ...one, used: [1n, 1n], withdrawValue: 200n }
  /** The second slot in the window of the same number. */
  const bothWindows = [1n, 0n, 0n, 1n]
  let circuit: TestCircuit

  beforeAll(async () => {
    circuit = await workshop.circuit(sourceOf(shape))
  })

  it('is accepted, and leaves nothing to choose', async () => {
    await expectTight(circuit, good)
    expect(objections(circuit, good)).toBe(0)
  })

  it('is accepted with an unused slot and an unused window', async () => {
    await expectTight(circuit, one)
    expect(one.withdrawValue).toBe(100n)
  })

  it('is accepted with an end just above the last leaf, or far above it', () => {
    expect(objections(circuit, { ...good, end: 10n })).toBe(0)
    expect(objections(circuit, { ...good, end: 16n })).toBe(0)
  })

  it('is accepted with no leaf at all, and then adds nothing', () => {
    const none = { ...one, used: [0n, 0n], withdrawValue: 0n }
    expect(objections(circuit, none)).toBe(0)
    expect(objections(circuit, { ...none, start: 0n, end: 16n })).toBe(0)
    expect(objections(circuit, { ...none, withdrawValue: 100n })).toBe(1)
  })

  it('is accepted with leaves side by side, and with one as far away as the tree is wide', () => {
    const apart = treeOf([burnOf(0), burnOf(1)], [0, 15])
    expect(objections(circuit, inputOf(apart, { start: 0, end: 16 }))).toBe(0)
    const beside = treeOf([burnOf(0), burnOf(1)], [14, 15])
    expect(objections(circuit, inputOf(beside, { start: 0, end: 16 }))).toBe(0)
  })

  it('has no more slots than sums can hold', async () => {
    const wide = workshop.circuit(sourceOf({ ...shape, slots: 33 }))
    await expect(wide).rejects.toThrow(/assert/i)
  })

  const flip = <T>([one, other]: readonly [T, T] | readonly T[]): T[] => [other as T, one as T]
  const malformed: [what: string, input: CircuitInput, objections: number][] = [
    ['a leaf twice', twice, 1],
    ['a leaf twice, by a place that means the same', { ...twice, place: [2n, 6n] }, 1],
    [
      'a leaf twice, by a window number that means the same',
      {
        ...twice,
        end: 30n,
        window: [1n, 5n],
        windowRoot: [nodeAt(2, 1), nodeAt(2, 1)],
        windowSiblings: [nodeAt(2, 0), nodeAt(3, 1), nodeAt(2, 0), nodeAt(3, 1)],
        inWindow: bothWindows,
      },
      1,
    ],
    [
      'a leaf twice, in a window under another number',
      {
        ...twice,
        end: 16n,
        window: [1n, 3n],
        windowRoot: [nodeAt(2, 1), nodeAt(2, 1)],
        windowSiblings: [nodeAt(2, 0), nodeAt(3, 1), nodeAt(2, 0), nodeAt(3, 1)],
        inWindow: bothWindows,
      },
      1,
    ],
    [
      'leaves in falling order',
      {
        ...good,
        ...Object.fromEntries(
          (['value', 'secret', 'from', 'place'] as const).map((name) => [name, flip(good[name] as bigint[])]),
        ),
        inWindow: [0n, 1n, 1n, 0n],
        siblings: [...second.siblings.slice(0, 2), ...first.siblings.slice(0, 2)],
      },
      1,
    ],
    ['a leaf before the start', { ...good, start: 7n }, 1],
    ['an end that the last leaf is not below', { ...good, end: 9n }, 1],
    ['a start far beyond the tree', { ...good, start: 1n << 47n }, 1],
    ['an unused slot that is counted', { ...one, withdrawValue: 200n }, 1],
    ['a slot that counts double', { ...good, used: [1n, 2n], withdrawValue: 302n }, 1],
    ['a slot behind an unused one', { ...good, used: [0n, 1n], withdrawValue: 101n, start: 9n }, 1],
    ['a sum that is not that of the values', { ...good, withdrawValue: 202n }, 1],
    ['a value that is not that of the leaf', { ...good, value: [101n, 101n], withdrawValue: 202n }, 1],
    ['a leaf in two windows', { ...good, inWindow: [1n, 1n, 0n, 1n] }, 3],
    ['a leaf in no window', { ...good, inWindow: [0n, 0n, 0n, 1n] }, 3],
    ['a leaf in a window twice and in another minus once', { ...good, inWindow: [2n, -1n, 0n, 1n] }, 4],
    ['a leaf that is said to lie in another window', { ...good, inWindow: [0n, 1n, 0n, 1n] }, 2],
    ['a window that is not in the tree', { ...good, windowRoot: [nodeAt(2, 1), 5n] }, 2],
    ['a window of another tree', { ...good, windowSiblings: [1n, 2n, nodeAt(2, 3), nodeAt(3, 0)] }, 1],
    ['the wrong root', { ...good, root: 5n }, 2],
    ['another sender', { ...good, from: [9n, 2n] }, 1],
    ["another recipient's burn", { ...good, recipient: 5n }, 4],
    ['a secret without proof of work', { ...good, secret: [first.secret + 1n, second.secret] }, 2],
  ]

  it.each(malformed)('is refused with %s', (_, input, expected) => {
    expect(objections(circuit, input)).toBe(expected)
  })
})

describe('batch-withdraw', () => {
  /** The token takes no larger transfer. Thirty of them must not wrap around the field. */
  const largest = (1n << 248n) - 1n

  it('accepts thirty burns of a real tree as the zk package describes them, and no wire can be altered', async () => {
    const circuit = await workshop.circuit(sourceOf(batchShape), { names: false })
    const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
    const size = batchShape.windows * 2 ** batchShape.windowHeight - 5
    const burns = Array.from({ length: batchShape.slots }, (_, at) => ({
      ...burnOf(at, largest - BigInt(at)),
      leafIndex: Math.floor(((at + 0.5) * size) / batchShape.slots),
    }))
    const byLeaf = new Map(burns.map((burn) => [burn.leafIndex, burn]))
    tree.append(
      Array.from({ length: size }, (_, at) => {
        const burn = byLeaf.get(at)
        return burn ? transferLeaf(2, burn) : BigInt(at) + (1n << 200n)
      }),
    )
    const input = batchWithdrawInput({
      root: tree.rootAt(size),
      recipientHash,
      start: 3,
      end: size,
      burns: burns.map((burn) => ({ ...burn, siblings: tree.pathAt(burn.leafIndex, size).siblings })),
    })
    const witness = await expectNoFreeWire(circuit, input, 97)
    const sum = burns.reduce((total, { value }) => total + value, 0n)
    expect(witness.slice(1, 6)).toEqual([tree.rootAt(size), recipientHash, sum, 3n, BigInt(size)])
    expect(readmeCounts('batch-withdraw')).toBe(countsOf(circuit.r1cs))
  })
})

/** A tree level by level, its leaves first. */
function levelsAbove(leaves: readonly bigint[]): (readonly bigint[])[] {
  const levels = [leaves]
  for (let below = leaves; below.length > 1; below = levels.at(-1) ?? []) {
    const children = below
    levels.push(
      Array.from({ length: children.length / 2 }, (_, at) =>
        hash2(children[2 * at] ?? 0n, children[2 * at + 1] ?? 0n),
      ),
    )
  }
  return levels
}
