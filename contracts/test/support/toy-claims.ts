// Claims with any content under toy keys, as a holder of a key's secret could send them.
import { evaluateTransfers, nextHashChain, recipientHash, recipientWord, rootChallenge } from '@svc-zerc20/zk'
import { type Hex, numberToHex } from 'viem'
import { encodeWithdrawProof, type RootProof, type Transfer, verifierAbi } from '../../index.js'
import type { Chain } from './chain.js'
import { toyProof } from './toy-key.js'
import type { BatchMint, Mint, Zerc20 } from './zerc20.js'

type Step = {
  /** All leaves of the token. */
  readonly transfers: readonly Transfer[]
  readonly batch: number
  readonly from: number
  /** Any field element does for a root, as nothing is proved about it. */
  readonly newRoot?: bigint
}

/** A claim from a proved root to the last of the transfers. */
export async function toyRootClaim(
  chain: Chain,
  { verifier }: Zerc20,
  { transfers, batch, from, newRoot = 2n ** 253n + BigInt(transfers.length) }: Step,
): Promise<RootProof> {
  const index = transfers.length
  const oldRoot = await chain.client.readContract({
    address: verifier,
    abi: verifierAbi,
    functionName: 'provedTransferRoots',
    args: [BigInt(from)],
  })
  const chainAt = (end: number) =>
    transfers.slice(0, end).reduce((hash, transfer) => nextHashChain(2, hash, transfer), 0n)
  const added = transfers.slice(from)
  const transition = {
    oldIndex: from,
    oldRoot,
    oldChain: chainAt(from),
    newIndex: index,
    newChain: chainAt(index),
  }
  const z = rootChallenge({ ...transition, newRoot })
  const signals = [BigInt(from), oldRoot, BigInt(index), newRoot, z, evaluateTransfers(z, added)]
  const proof = await toyProof(chain, signals)
  return { oldIndex: BigInt(from), count: added.length, batch, newRoot, transfers: added, proof }
}

/** A mint by a proof that a burn of this value is under a root. */
export async function toyMint(
  chain: Chain,
  { isGlobal, rootHint, root }: { isGlobal: boolean; rootHint: bigint; root: bigint },
  { to, tweak, value }: { to: Hex; tweak: number; value: bigint },
): Promise<Mint> {
  const { gr, hash } = recipientOf(chain, to, tweak)
  const signals = [root, hash, value]
  const proof = encodeWithdrawProof(await toyProof(chain, signals), signals)
  return { isGlobal, rootHint, gr, proof }
}

/** A mint by a proof that burns of this sum are under a root, between two leaf counts. */
export async function toyBatch(
  chain: Chain,
  { rootHint, root }: { rootHint: bigint; root: bigint },
  { to, tweak, value, start, end }: { to: Hex; tweak: number; value: bigint; start: number; end: number },
): Promise<BatchMint> {
  const { gr, hash } = recipientOf(chain, to, tweak)
  const proof = await toyProof(chain, [root, hash, value, BigInt(start), BigInt(end)])
  return { rootHint, gr, start, end, value, proof }
}

/** A recipient by its account and a number, and its hash. */
export function recipientOf(chain: Chain, to: Hex, tweak: number) {
  const gr = {
    chainId: BigInt(chain.client.chain.id),
    recipient: recipientWord(to),
    tweak: numberToHex(2n ** 254n + BigInt(tweak), { size: 32 }),
  }
  return { gr, hash: recipientHash({ ...gr, chainId: chain.client.chain.id }) }
}
