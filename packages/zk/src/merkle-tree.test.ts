import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { vectors } from '../test/vectors.js'
import {
  createMemoryNodes,
  createMerkleTree,
  emptyRoots,
  emptyTreeRoot,
  rootOfPath,
  transferLeaf,
  treeHeight,
} from './merkle-tree.js'
import { fieldPrime, hash2 } from './poseidon.js'

/** The tree by its definition: every level is hashed in pairs and padded with the empty root of its height. */
function naiveRoot(leaves: readonly bigint[]): bigint {
  let level = leaves
  for (let height = 0; height < treeHeight; height++) {
    const empty = emptyRoots()[height] ?? 0n
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) =>
      hash2(level[2 * i] ?? empty, level[2 * i + 1] ?? empty),
    )
  }
  return level[0] ?? emptyRoots()[treeHeight] ?? 0n
}

const emptyTree = () => createMerkleTree({ store: createMemoryNodes(), size: 0 })
const leaf = fc.bigInt({ min: 1n, max: fieldPrime - 1n })
const leavesOf = (maxLength: number) => fc.array(leaf, { maxLength })

describe('the Merkle tree', () => {
  test.each(vectors.emptyRoots.filter(({ height }) => height <= treeHeight))(
    'empty, $height high',
    (vector) => {
      expect(emptyRoots()[vector.height]).toBe(BigInt(vector.root))
    },
  )

  test('an empty tree has the initial transfer root', () => {
    expect(emptyTree().rootAt(0)).toBe(emptyTreeRoot)
    expect(emptyTree().rootAt(0)).toBe(
      BigInt(vectors.emptyRoots.find((of) => of.height === treeHeight)?.root ?? 0),
    )
  })

  test.each(vectors.hashChains.filter(({ roots }) => roots !== undefined))(
    'generation $generation after $transfers',
    ({ generation, transfers, roots = [] }) => {
      const tree = emptyTree()
      tree.append(transfers.map((of) => transferLeaf(generation, { ...of, value: BigInt(of.value) })))
      expect(transfers.map((_, at) => tree.rootAt(at + 1))).toEqual(roots.map(BigInt))
    },
  )

  test('has at every past size the root of the definition', () => {
    fc.assert(
      fc.property(leavesOf(20), (leaves) => {
        const tree = emptyTree()
        tree.append(leaves)
        for (let size = 0; size <= leaves.length; size++) {
          expect(tree.rootAt(size)).toBe(naiveRoot(leaves.slice(0, size)))
        }
      }),
      { numRuns: 12 },
    )
  })

  test('every path leads from its leaf to the root of its size', () => {
    fc.assert(
      fc.property(leavesOf(70), fc.nat(), fc.nat(), (leaves, someSize, someLeaf) => {
        fc.pre(leaves.length > 0)
        const tree = emptyTree()
        tree.append(leaves)
        const size = 1 + (someSize % leaves.length)
        const index = someLeaf % size
        const { root, siblings } = tree.pathAt(index, size)
        expect(siblings).toHaveLength(treeHeight)
        expect(root).toBe(naiveRoot(leaves.slice(0, size)))
        expect(rootOfPath(leaves[index] ?? 0n, index, siblings)).toBe(root)
      }),
      { numRuns: 25 },
    )
  })

  test('after a truncation it is the tree of the leaves that are left', () => {
    fc.assert(
      fc.property(leavesOf(40), leavesOf(40), fc.nat(), (before, after, cut) => {
        const kept = before.slice(0, cut % (before.length + 1))
        const tree = emptyTree()
        tree.append(before)
        // Fills the cache before the tree is truncated; the cached value is wrong afterwards.
        tree.rootAt(before.length)
        tree.truncate(kept.length)
        expect(tree.size()).toBe(kept.length)
        tree.append(after)
        const whole = [...kept, ...after]
        expect(tree.rootAt(whole.length)).toBe(naiveRoot(whole))
        expect(tree.rootAt(kept.length)).toBe(naiveRoot(kept))
      }),
      { numRuns: 25 },
    )
  })

  test('positions beyond 32 bits keep their place', () => {
    const at = 2 ** 33 + 5
    const siblings = Array.from({ length: treeHeight }, (_, level) => BigInt(level + 1))
    const byBits = siblings.reduce(
      (node, sibling, level) =>
        (BigInt(at) >> BigInt(level)) & 1n ? hash2(sibling, node) : hash2(node, sibling),
      7n,
    )
    expect(rootOfPath(7n, at, siblings)).toBe(byBits)
  })

  test('goes on from a store that somebody else filled', () => {
    const store = createMemoryNodes()
    createMerkleTree({ store, size: 0 }).append([1n, 2n, 3n, 4n, 5n])
    const again = createMerkleTree({ store, size: 5 })
    again.append([6n])
    expect(again.rootAt(6)).toBe(naiveRoot([1n, 2n, 3n, 4n, 5n, 6n]))
  })

  test('asks for no size it does not have, and names a node that its store lost', () => {
    const tree = emptyTree()
    tree.append([1n])
    expect(() => tree.rootAt(2)).toThrow('no size 2')
    expect(() => tree.pathAt(1, 1)).toThrow('the leaf is in the tree')
    const hollow = createMerkleTree({ store: createMemoryNodes(), size: 3 })
    expect(() => hollow.rootAt(3)).toThrow(expect.objectContaining({ code: 'tree_damaged' }))
  })
})
