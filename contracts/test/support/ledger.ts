// The leaves of one token under test, with the tree over them, and the claims that can be made about them.
import type { Prover } from '@svc-zerc20/prover'
import {
  burnAddressAt,
  createMemoryNodes,
  createMerkleTree,
  deriveBurn,
  findPowNonce,
  type GeneralRecipient,
  type Hex,
  nextHashChain,
  type RootCircuit,
  type RootWitness,
  recipientWord,
  rootBatches,
  rootInput,
  secretAt,
  type Transfer,
  transferLeaf,
} from '@svc-zerc20/zk'
import { keccak256, toBytes } from 'viem'
import type { RootProof } from '../../index.js'

/** A burn address and what a mint of its burn needs. */
export type Burn = {
  readonly gr: GeneralRecipient
  readonly recipientHash: bigint
  readonly secret: bigint
  readonly address: Hex
}

/** The burn address of a challenge that is named by some text. Those of one epoch share their recipient hash. */
export function burnOf(name: string, recipient: Hex, chainId: number, powBits: number, epoch?: number): Burn {
  const challengeNonce = keccak256(toBytes(name))
  const seed = toBytes(keccak256(toBytes('seed')))
  const treasury = recipient
  const puzzle = deriveBurn({
    generation: 2,
    powBits,
    chainId,
    treasury,
    seed,
    challengeNonce,
    ...(epoch !== undefined && { epoch: { ledger: '00'.repeat(16), start: epoch } }),
  })
  const powNonce = findPowNonce(puzzle, { startNonce: 0, maxTries: 1_000_000 }) ?? -1
  const address = burnAddressAt(puzzle, powNonce)
  if (address === undefined) throw new Error('no nonce found')
  return {
    gr: { chainId, recipient: recipientWord(recipient), tweak: puzzle.tweak },
    recipientHash: puzzle.recipientHash,
    secret: secretAt(puzzle, powNonce),
    address,
  }
}

export type Ledger = ReturnType<typeof createLedger>

export function createLedger() {
  const transfers: Transfer[] = []
  const chains: bigint[] = [0n]
  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })

  /** Inputs for appending these transfers, which need not be the ledger's, at a leaf count. */
  const witness = (circuit: RootCircuit, oldIndex: number, added: readonly Transfer[]): RootWitness => {
    const width = rootBatches[circuit]
    const start = oldIndex - (oldIndex % width)
    const { siblings } = tree.pathAt(oldIndex, oldIndex + 1)
    return rootInput({
      circuit,
      oldIndex,
      oldChain: chains[oldIndex] ?? 0n,
      oldLeaves: transfers.slice(start, oldIndex).map((transfer) => transferLeaf(2, transfer)),
      siblings: siblings.slice(Math.log2(width)),
      transfers: added,
    })
  }

  return {
    transfers,
    tree,
    witness,
    append(transfer: Transfer) {
      transfers.push(transfer)
      chains.push(nextHashChain(2, chains.at(-1) ?? 0n, transfer))
      tree.append([transferLeaf(2, transfer)])
    },
    /** A proved claim: `count` leaves from `oldIndex`, followed by those up to the checkpoint. */
    async claim(
      prover: Prover,
      circuit: RootCircuit,
      { oldIndex, count, checkpoint }: { oldIndex: number; count: number; checkpoint: number },
    ): Promise<RootProof> {
      const { input, newRoot } = witness(circuit, oldIndex, transfers.slice(oldIndex, oldIndex + count))
      const { proof } = await prover.prove(circuit, input)
      const batch = rootBatches[circuit]
      return {
        oldIndex: BigInt(oldIndex),
        count,
        batch,
        newRoot,
        transfers: transfers.slice(oldIndex, checkpoint),
        proof,
      }
    },
  }
}
