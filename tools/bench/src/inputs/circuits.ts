/** Valid inputs for the measured circuits. */
import {
  addressOf,
  type BatchBurn,
  batchShape,
  batchWithdrawInput,
  burnHash,
  type CircuitInput,
  createMemoryNodes,
  createMerkleTree,
  emptyRoots,
  findPowNonce,
  type RootCircuit,
  rootBatches,
  rootInput,
  rootOfPath,
  secretAt,
  type Transfer,
  transferLeaf,
  withdrawInput,
} from '@svc-zerc20/zk'

const address = (seed: number): `0x${string}` => `0x${seed.toString(16).padStart(40, 'a')}`

const recipientHash = 0xc0ffeen << 200n

/** A transfer to a burn address of the recipient, with the address's secret. */
function burnSample(powBits: number, baseSecret: bigint): Transfer & { readonly secret: bigint } {
  const puzzle = { generation: 2, powBits, recipientHash, baseSecret } as const
  const nonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 2 ** (powBits + 6) })
  if (nonce === undefined) throw new Error('no nonce passes')
  const secret = secretAt(puzzle, nonce)
  return { from: address(1), to: addressOf(burnHash(2, recipientHash, secret)), value: 10_000n, secret }
}

/** One burn under a root of the token's tree. */
export function withdrawSample(powBits: number): CircuitInput {
  const { secret, ...burn } = burnSample(powBits, 1n << 250n)
  const leafIndex = 0b1011_0110
  const siblings = emptyRoots().slice(0, -1)
  const root = rootOfPath(transferLeaf(2, burn), leafIndex, siblings)
  return withdrawInput({ ...burn, root, recipientHash, secret, leafIndex, siblings }).input
}

/** As many burns as asked for, among other transfers that fill all windows of one proof. */
export function batchSample(powBits: number, count: number): CircuitInput {
  const size = batchShape.windows * 2 ** batchShape.windowHeight
  const burns = Array.from({ length: count }, (_, at) => ({
    ...burnSample(powBits, (1n << 249n) + BigInt(at) * (1n << 40n)),
    leafIndex: Math.floor((at * size) / count),
  }))
  const byLeaf = new Map(burns.map((burn) => [burn.leafIndex, transferLeaf(2, burn)]))
  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
  tree.append(Array.from({ length: size }, (_, at) => byLeaf.get(at) ?? (1n << 200n) + BigInt(at)))
  const located = burns.map(
    (burn): BatchBurn => ({ ...burn, siblings: tree.pathAt(burn.leafIndex, size).siblings }),
  )
  return batchWithdrawInput({ root: tree.rootAt(size), recipientHash, start: 0, end: size, burns: located })
}

/** As many transfers as one proof takes, into an empty tree. */
export function rootSample(circuit: RootCircuit): CircuitInput {
  const width = rootBatches[circuit]
  const transfers = Array.from({ length: width }, (_, index) => ({
    from: address(index),
    to: address(index + 1000),
    value: BigInt(index) ** 12n,
  }))
  const siblings = emptyRoots().slice(Math.log2(width), -1)
  return rootInput({ circuit, oldIndex: 0, oldChain: 0n, oldLeaves: [], siblings, transfers }).input
}
