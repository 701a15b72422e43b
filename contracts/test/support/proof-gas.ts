// What roots, mints and aggregation cost. The proofs are toys: verifying them is as dear as verifying real ones.
import { evaluateTransfers, nextHashChain, recipientHash, recipientWord, rootChallenge } from '@svc-zerc20/zk'
import { type Hex, numberToHex } from 'viem'
import { encodeWithdrawProof, type Transfer, verifierAbi } from '../../index.js'
import type { Chain } from './chain.js'
import { toyKey, toyProof } from './toy-key.js'
import { deployZerc20, type Zerc20 } from './zerc20.js'

type Step = { readonly transfers: readonly Transfer[]; readonly batch: number; readonly from: number }

/** Gas by what was done. The first mint of all also pays for a counter of the token that starts at zero. */
export async function measureProofs(chain: Chain): Promise<Record<string, number>> {
  const withdrawKey = await toyKey(chain, 3)
  const rootKey = await toyKey(chain, 6)
  const keys = { withdrawLocal: withdrawKey, withdrawGlobal: withdrawKey, root16: rootKey, root64: rootKey }
  const zerc20 = await deployZerc20(chain, keys, 8)
  const transfers: Transfer[] = []
  const grow = async (count: number) => {
    for (let i = 0; i < count; i += 1)
      transfers.push(await zerc20.mint(address(transfers.length), 1_000_000n))
  }
  const gas: Record<string, number> = {}
  const record = (what: string, { gasUsed }: { gasUsed: bigint }) => {
    gas[what] = Number(gasUsed)
  }

  await grow(13)
  record('reserveHashChain', await zerc20.reserve())
  const first = await rootClaim(chain, zerc20, { transfers, batch: 16, from: 0 })
  record('proveTransferRoot of 13 transfers', await zerc20.proveRoot(first))
  await grow(51)
  await zerc20.reserve()
  const second = await rootClaim(chain, zerc20, { transfers, batch: 64, from: 13 })
  await zerc20.proveRoot(second)
  await grow(59)
  await zerc20.reserve()
  const third = await rootClaim(chain, zerc20, { transfers, batch: 64, from: 64 })
  record('proveTransferRoot of 59 transfers', await zerc20.proveRoot(third))

  for (const [tweak, [what, to]] of [
    ['first singleTeleport', address(8_888)] as const,
    ['singleTeleport to a fresh address', address(9_999)] as const,
    ['singleTeleport to a known address', address(9_999)] as const,
  ].entries()) {
    const gr = {
      chainId: BigInt(chain.client.chain.id),
      recipient: recipientWord(to),
      tweak: numberToHex(2n ** 254n + BigInt(tweak), { size: 32 }),
    }
    const signals = [third.newRoot, recipientHash({ ...gr, chainId: chain.client.chain.id }), 1_000_000n]
    const proof = encodeWithdrawProof(await toyProof(chain, signals), signals)
    const rootHint = BigInt(transfers.length)
    record(what, await zerc20.singleTeleport({ isGlobal: false, rootHint, gr, proof }))
  }
  record('relayTransferRoot', await zerc20.relay())
  record('broadcast', await zerc20.broadcast())
  return gas
}

async function rootClaim(chain: Chain, { verifier }: Zerc20, { transfers, batch, from }: Step) {
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
  // Any field element does for a root, as nothing is proved about it.
  const newRoot = 2n ** 253n + BigInt(index)
  const transition = {
    oldIndex: from,
    oldRoot,
    oldChain: chainAt(from),
    newIndex: index,
    newChain: chainAt(index),
  }
  const z = rootChallenge({ ...transition, newRoot })
  const signals = [BigInt(from), oldRoot, BigInt(index), newRoot, z, evaluateTransfers(z, added)]
  return {
    oldIndex: BigInt(from),
    count: added.length,
    batch,
    newRoot,
    transfers: added,
    proof: await toyProof(chain, signals),
  }
}

function address(counter: number): Hex {
  return numberToHex(2n ** 159n + BigInt(counter + 1) * 0x1_0001n ** 7n, { size: 20 })
}
