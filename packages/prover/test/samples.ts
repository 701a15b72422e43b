import {
  addressOf,
  burnHash,
  type CircuitInput,
  createMemoryNodes,
  createMerkleTree,
  findPowNonce,
  type NeededCircuit,
  rootBatches,
  rootInput,
  rootOfPath,
  secretAt,
  type Transfer,
  transferLeaf,
  withdrawInput,
} from '@svc-zerc20/zk'

const address = (seed: number): `0x${string}` => `0x${(0xabc_0000 + seed).toString(16).padStart(40, '0')}`
const transfer = (seed: number): Transfer => ({
  from: address(seed),
  to: address(2 * seed + 1),
  value: BigInt(seed) * 1_000_003n,
})

/** A burn at some place in a made-up tree. */
function withdraw(depth: 40 | 46, powBits: number, seed: number): CircuitInput {
  const puzzle = { generation: 2, powBits, recipientHash: 10_000n + BigInt(seed), baseSecret: 77n } as const
  const nonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 2 ** (powBits + 6) })
  if (nonce === undefined) throw new Error('no nonce in 64 times the expected tries')
  const secret = secretAt(puzzle, nonce)
  const to = addressOf(burnHash(2, puzzle.recipientHash, secret))
  const { from, value } = transfer(seed)
  const siblings = Array.from({ length: depth }, (_, level) => BigInt(seed * 1000 + level + 1))
  const leafIndex = 12_345 + seed
  const root = rootOfPath(transferLeaf(2, { from, to, value }), leafIndex, siblings)
  return withdrawInput({
    root,
    recipientHash: puzzle.recipientHash,
    secret,
    from,
    value,
    delta: BigInt(seed),
    leafIndex,
    siblings,
  }).input
}

/** Transfers that fill a subtree up to its end. */
function root(circuit: 'root-16' | 'root-64', seed: number): CircuitInput {
  const width = rootBatches[circuit]
  const oldIndex = width + (seed % width)
  const transfers = Array.from({ length: 2 * width }, (_, index) => transfer(index + seed))
  const leaves = transfers.map((item) => transferLeaf(2, item))
  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
  tree.append(leaves)
  return rootInput({
    circuit,
    oldIndex,
    oldChain: 5n,
    oldLeaves: leaves.slice(width, oldIndex),
    siblings: tree.pathAt(oldIndex, 2 * width).siblings.slice(Math.log2(width)),
    transfers: transfers.slice(oldIndex),
  }).input
}

/** Honest inputs of a circuit, another set for each seed. */
export function sampleInput(circuit: NeededCircuit, powBits: number, seed = 1): CircuitInput {
  switch (circuit) {
    case 'withdraw-local':
      return withdraw(40, powBits, seed)
    case 'withdraw-global':
      return withdraw(46, powBits, seed)
    default:
      return root(circuit, seed)
  }
}
