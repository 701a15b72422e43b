/** Valid inputs for the measured circuits. */
import {
  addressOf,
  burnHash,
  type CircuitInput,
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

/** One burn under a root of the token's tree. */
export function withdrawSample(powBits: number): CircuitInput {
  const puzzle = { generation: 2, powBits, recipientHash: 0xc0ffeen << 200n, baseSecret: 1n << 250n } as const
  const nonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 2 ** (powBits + 6) })
  if (nonce === undefined) throw new Error('no nonce passes')
  const secret = secretAt(puzzle, nonce)
  const { recipientHash } = puzzle
  const burn: Transfer = {
    from: address(1),
    to: addressOf(burnHash(2, recipientHash, secret)),
    value: 10_000n,
  }
  const leafIndex = 0b1011_0110
  const siblings = emptyRoots().slice(0, -1)
  const root = rootOfPath(transferLeaf(2, burn), leafIndex, siblings)
  return withdrawInput({ ...burn, root, recipientHash, secret, leafIndex, siblings }).input
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
