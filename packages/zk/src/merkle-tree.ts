/**
 * The token's append-only Merkle tree. Only complete nodes are stored: a node with all its leaves never changes, so one
 * copy serves every later size. The one incomplete node of each level is hashed on demand. So root and path at every
 * past size are available without an undo log.
 */
import assert from 'node:assert/strict'
import { createBoundedMap, SvcError } from '@svc-zerc20/protocol'
import type { Generation } from './generation.js'
import type { Transfer } from './hash-chain.js'
import { hash2, hash3 } from './poseidon.js'

/** Levels between a leaf and the root of a token's tree, the same in both generations. */
export const treeHeight = 40

/** Where complete nodes are kept. Level 0 holds the leaves. */
export type NodeStore = {
  get(level: number, index: number): bigint | undefined
  put(level: number, index: number, hash: bigint): void
  /** Forgets every node that has a leaf at `size` or above. */
  truncate(size: number): void
}

/** Siblings from the leaf upwards, and the resulting root. */
export type MerklePath = { readonly root: bigint; readonly siblings: readonly bigint[] }

/** Sizes are leaf counts; a past size is any number up to the present one. */
export type MerkleTree = {
  size(): number
  append(leaves: readonly bigint[]): void
  rootAt(size: number): bigint
  pathAt(leafIndex: number, size: number): MerklePath
  /** Goes back to an earlier size after a reorg. */
  truncate(size: number): void
}

/** The leaf of a transfer. Generation 1 leaves the sender out. */
export function transferLeaf(generation: Generation, { from, to, value }: Transfer): bigint {
  return generation === 1 ? hash2(BigInt(to), value) : hash3(BigInt(from), BigInt(to), value)
}

/** The root computed from a leaf and its siblings. */
export function rootOfPath(leaf: bigint, leafIndex: number, siblings: readonly bigint[]): bigint {
  return siblings.reduce(
    (node, sibling, level) =>
      ancestor(leafIndex, level) % 2 === 0 ? hash2(node, sibling) : hash2(sibling, node),
    leaf,
  )
}

/** Root of an empty tree of that height, so that who only compares it need not compute it. */
export const emptyTreeRoot = 8687547638004116013653730449839507042090717944911454416140763808366589487233n

let computedEmpty: readonly bigint[] | undefined

/** Root of an empty tree of each height up to the token's; the empty leaf is zero. */
export function emptyRoots(): readonly bigint[] {
  computedEmpty ??= Array.from({ length: treeHeight }).reduce<bigint[]>(
    (roots) => [...roots, hash2(roots.at(-1) ?? 0n, roots.at(-1) ?? 0n)],
    [0n],
  )
  return computedEmpty
}

/** Stores nodes in memory: about 50 bytes a leaf, inner nodes included. */
export function createMemoryNodes(): NodeStore {
  const levels: bigint[][] = Array.from({ length: treeHeight + 1 }, () => [])
  return {
    get: (level, index) => levels[level]?.[index],
    put(level, index, hash) {
      const nodes = levels[level]
      assert(nodes !== undefined && index === nodes.length, 'nodes of a level are put in order')
      nodes.push(hash)
    },
    truncate(size) {
      for (const [level, nodes] of levels.entries()) {
        nodes.length = Math.min(nodes.length, ancestor(size, level))
      }
    },
  }
}

/** Number of sizes whose incomplete nodes are cached. Callers ask for many paths at few sizes. */
const rememberedSizesMax = 8

/** Opens the tree whose first `size` leaves are in the store. */
export function createMerkleTree(deps: { store: NodeStore; size: number }): MerkleTree {
  const { store } = deps
  let { size: present } = deps
  const edges = createBoundedMap<number, readonly bigint[]>(rememberedSizesMax)

  function complete(level: number, index: number): bigint {
    const node = store.get(level, index)
    if (node === undefined)
      throw new SvcError('tree_damaged', `the tree lost node ${index} of level ${level}`)
    return node
  }

  /** The incomplete node of each level: the one above position `size`. Nodes left of it are complete, right of it empty. */
  function edgeAt(size: number): readonly bigint[] {
    const known = edges.get(size)
    if (known !== undefined) return known
    const edge: bigint[] = [0n]
    for (let level = 0; level < treeHeight; level++) {
      const below = edge[level] ?? 0n
      const isRight = ancestor(size, level) % 2 === 1
      if (isRight) edge.push(hash2(complete(level, ancestor(size, level) - 1), below))
      // No leaf under this node yet, so its hash is the empty root.
      else edge.push(size % 2 ** (level + 1) === 0 ? emptyAt(level + 1) : hash2(below, emptyAt(level)))
    }
    edges.set(size, edge)
    return edge
  }

  function nodeAt(level: number, index: number, size: number): bigint {
    if ((index + 1) * 2 ** level <= size) return complete(level, index)
    return index === ancestor(size, level) ? (edgeAt(size)[level] ?? 0n) : emptyAt(level)
  }

  function assertPast(size: number): void {
    assert(Number.isSafeInteger(size) && size >= 0 && size <= present, `the tree has no size ${size}`)
  }

  function rootAt(size: number): bigint {
    assertPast(size)
    return nodeAt(treeHeight, 0, size)
  }

  return {
    size: () => present,
    append(leaves) {
      assert(present + leaves.length <= 2 ** treeHeight, 'the tree is full')
      for (const leaf of leaves) {
        let node = leaf
        store.put(0, present, node)
        for (let level = 0; ancestor(present, level) % 2 === 1; level++) {
          node = hash2(complete(level, ancestor(present, level) - 1), node)
          store.put(level + 1, ancestor(present, level + 1), node)
        }
        present += 1
      }
    },
    rootAt,
    pathAt(leafIndex, size) {
      assertPast(size)
      assert(Number.isSafeInteger(leafIndex) && leafIndex >= 0 && leafIndex < size, 'the leaf is in the tree')
      const siblings = Array.from({ length: treeHeight }, (_, level) => {
        const index = ancestor(leafIndex, level)
        return nodeAt(level, index % 2 === 0 ? index + 1 : index - 1, size)
      })
      return { root: rootAt(size), siblings }
    },
    truncate(size) {
      assertPast(size)
      store.truncate(size)
      for (const past of edges.keys()) if (past > size) edges.delete(past)
      present = size
    },
  }
}

/** Position at a level of the node above a leaf. Bit operations would be limited to 32 bits. */
const ancestor = (leafIndex: number, level: number): number => Math.floor(leafIndex / 2 ** level)

const emptyAt = (level: number): bigint => emptyRoots()[level] ?? 0n
